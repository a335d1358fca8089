// What the keys and the mouse do.
import {useLayoutEffect, useRef} from 'preact/hooks';

const KEYS: readonly (readonly [string, string])[] = [
  ['click', 'zoom into a frame; on a caller: zoom out to it'],
  ['double click, Esc', 'back'],
  ['\u2190 \u2191 \u2192 \u2193', 'move the selection'],
  ['Enter', 'zoom into the selection'],
  ['Home', 'select the frame in focus'],
  ['/', 'search; Esc in the field clears it'],
  ['r', 'reverse: who calls the hot methods'],
  ['t', 'threads as the first level'],
  ['i', 'turn upside down'],
  ['d', 'dark or light'],
  ['?', 'this help'],
];

export function HelpDialog({open, onClose}: {open: boolean; onClose: () => void}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (open && !dialog.current!.open) dialog.current!.showModal();
  }, [open]);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="help-title"
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
      <div class="help">
        <h2 id="help-title">Reading this page</h2>
        <p>
          Each box is a method; its width is the CPU time of the stacks it is on (in other profiles their time or
          their bytes; there the innermost box is the class of what was allocated). Callees lie on the far side of their
          caller from the root, the heaviest first. Reversed, the hot methods come first and their callers follow.
        </p>
        <p>
          Of a comparison, a box is as wide as the mean of both recordings; its colour tells how it changed, and boxes
          that are gone are there, too. A change that counting samples may make by chance is none.
        </p>
        <p>
          Search finds a part of a name in any case, a regular expression with <kbd>.*</kbd>, or exactly a name in
          {' "quotes"'}. The share is that of all stacks with at least one match.
        </p>
        <table>
          <tbody>
            {KEYS.map(([key, effect]) => <tr key={key}><th scope="row"><kbd>{key}</kbd></th><td>{effect}</td></tr>)}
          </tbody>
        </table>
        <form method="dialog"><button type="submit">Close</button></form>
      </div>
    </dialog>
  );
}
