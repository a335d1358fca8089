// What the keys and the mouse do.
import {useLayoutEffect, useRef} from 'preact/hooks';

const KEYS: readonly (readonly [string, string])[] = [
  ['1 \u2013 9', 'the views'],
  ['/', 'search; Esc in the field clears it'],
  ['\u2190 \u2191 \u2192 \u2193', 'move the selection; in the call tree also open and close'],
  ['click, Enter', 'zoom into a frame; on a caller: zoom out to it'],
  ['double click, Esc', 'back'],
  ['Backspace', 'ring: the caller becomes the centre'],
  ['w', 'stacks: the next weight'],
  ['r', 'flame graph: reverse, who calls the hot methods'],
  ['t', 'flame graph, call tree: threads as the first level'],
  ['i', 'flame graph: turn upside down'],
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
          Stacks are weighted by CPU time, wall clock time, waiting, allocated bytes, or the time that threads were
          blocked by locks: by who was blocked, or by who held the lock meanwhile. A box of the flame graph is a
          method, its width the weight of the stacks it is on; callees lie on the far side of their caller from the
          root, the heaviest first. Solid blue boxes are calls that the compiler did not inline, striped ones it did.
          In the ring chart, ring n holds the calls n levels below the centre, and angles are weights.
        </p>
        <p>
          Drag over the strip of time to look at a part of the recording; drag inside the part to move it, click beside
          it to see everything again. Time, threads, include and exclude are the same for all views. The address of
          the page holds what is shown: copy it to come back or to show it to somebody.
        </p>
        <p>
          Search finds a part of a name in any case, a regular expression with <kbd>.*</kbd>, or exactly a name in
          {' "quotes"'}. The share is that of all stacks with at least one match. "95 % sure" says how far chance may
          have moved a share: the fewer samples, the further.
        </p>
        <p>
          Of a comparison, a box is as wide as the mean of both recordings; its colour tells how it changed, and boxes
          that are gone are there, too. A change that counting samples may make by chance is none.
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
