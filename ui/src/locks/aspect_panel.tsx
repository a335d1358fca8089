// The aspects in their order: drag them, or move them by buttons and keys; the others wait to be added.
import {useRef, useState} from 'preact/hooks';
import {ASPECT_WORDS, ASPECTS, type Aspect} from './aspects';

interface Props {
  readonly by: readonly Aspect[];
  readonly onBy: (by: readonly Aspect[]) => void;
}

const PRESETS: readonly {readonly label: string; readonly by: readonly Aspect[]}[] = [
  {label: 'What blocks where, and who holds it', by: ['class', 'blocked-method', 'owner-method']},
  {label: 'Down to call chains', by: ['group', 'class', 'object', 'blocked-chain', 'owner-chain']},
  {label: 'Who is to blame', by: ['owner-method', 'owner-chain', 'class', 'blocked-method']},
  {label: 'Thread against thread', by: ['blocked-thread', 'owner-thread', 'object']},
];

// `moved` in front of `before`; at the end if that is null.
export function placed(by: readonly Aspect[], moved: Aspect, before: Aspect | null): readonly Aspect[] {
  if (moved === before) return by;
  const others = by.filter((aspect) => aspect !== moved);
  const at = before === null ? others.length : others.indexOf(before);
  return [...others.slice(0, at), moved, ...others.slice(at)];
}

export function AspectPanel({by, onBy}: Props) {
  const dragged = useRef<Aspect | null>(null);
  const [target, setTarget] = useState<Aspect | 'end' | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const [said, setSaid] = useState('');
  const drop = (event: DragEvent, before: Aspect | null): void => {
    event.preventDefault();
    event.stopPropagation();
    setTarget(null);
    if (dragged.current !== null) onBy(placed(by, dragged.current, before));
    dragged.current = null;
  };
  const over = (event: DragEvent, at: Aspect | 'end'): void => {
    if (dragged.current === null) return;
    event.preventDefault();
    event.stopPropagation();
    setTarget(at);
  };
  const start = (event: DragEvent, aspect: Aspect): void => {
    dragged.current = aspect;
    event.dataTransfer?.setData('text/plain', aspect);
    if (event.dataTransfer) event.dataTransfer.effectAllowed = 'move';
  };
  const move = (aspect: Aspect, steps: number): void => {
    const at = by.indexOf(aspect);
    const to = Math.min(Math.max(at + steps, 0), by.length - 1);
    if (to === at) return;
    const others = by.filter((each) => each !== aspect);
    onBy([...others.slice(0, to), aspect, ...others.slice(to)]);
    setSaid(`${ASPECT_WORDS[aspect]} is now level ${to + 1} of ${by.length}`);
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-aspect="${aspect}"] .aspect-name`)?.focus());
  };
  const onKeyDown = (event: KeyboardEvent, aspect: Aspect): void => {
    if (event.key === 'ArrowLeft') move(aspect, -1);
    else if (event.key === 'ArrowRight') move(aspect, 1);
    else if ((event.key === 'Delete' || event.key === 'Backspace') && by.length > 1) onBy(by.filter((each) => each !== aspect));
    else return;
    event.preventDefault();
  };
  const rest = ASPECTS.filter((aspect) => !by.includes(aspect));
  const preset = PRESETS.findIndex((each) => each.by.join() === by.join());
  return (
    <div class="aspects" ref={box} role="group" aria-label="Aspects by which contentions are broken down">
      <span class="muted aspects-word">Drill down by</span>
      <ol class="aspect-order" onDragOver={(event) => over(event, 'end')} onDrop={(event) => drop(event, null)}>
        {by.map((aspect, i) => (
          <li key={aspect} data-aspect={aspect} class={`aspect${target === aspect ? ' aspect-target' : ''}`} draggable
            onDragStart={(event) => start(event, aspect)} onDragEnd={() => setTarget(null)}
            onDragOver={(event) => over(event, aspect)} onDrop={(event) => drop(event, aspect)}>
            <button type="button" class="aspect-name" onKeyDown={(event) => onKeyDown(event, aspect)}
              title="Drag it, or press the left and right arrow keys, to move it; Delete takes it out"
              aria-description="Left and right arrow keys move it, Delete takes it out">
              <span class="aspect-level">{i + 1}</span> {ASPECT_WORDS[aspect]}
            </button>
            <button type="button" class="aspect-tool" disabled={i === 0} aria-label={`Move ${ASPECT_WORDS[aspect]} up`}
              title="One level up" onClick={() => move(aspect, -1)}>{'\u2039'}</button>
            <button type="button" class="aspect-tool" disabled={i === by.length - 1} aria-label={`Move ${ASPECT_WORDS[aspect]} down`}
              title="One level down" onClick={() => move(aspect, 1)}>{'\u203a'}</button>
            <button type="button" class="aspect-tool" disabled={by.length === 1} aria-label={`Take ${ASPECT_WORDS[aspect]} out`}
              title="Take it out" onClick={() => onBy(by.filter((each) => each !== aspect))}>{'\u00d7'}</button>
          </li>
        ))}
        {target === 'end' && <li class="aspect-end" aria-hidden="true" />}
      </ol>
      <div class="aspect-rest" role="group" aria-label="Aspects to add">
        {rest.map((aspect) => (
          <button key={aspect} type="button" class="aspect-add" draggable onDragStart={(event) => start(event, aspect)}
            onDragEnd={() => setTarget(null)} title="Add it as the last level, or drag it to its place"
            onClick={() => onBy([...by, aspect])}>+ {ASPECT_WORDS[aspect]}</button>
        ))}
      </div>
      <select aria-label="Orders of aspects that are often useful" value={String(preset)}
        onChange={(event) => onBy(PRESETS[Number((event.target as HTMLSelectElement).value)]?.by ?? by)}>
        {preset < 0 && <option value="-1">Own order</option>}
        {PRESETS.map(({label}, i) => <option key={i} value={String(i)}>{label}</option>)}
      </select>
      <span class="hidden" role="status">{said}</span>
    </div>
  );
}
