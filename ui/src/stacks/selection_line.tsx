// The selected frame in words; screen readers hear it when the selection moves.
import {clipped} from '../data/visible_text';
import type {Facts} from '../flame/facts';

interface Props {
  readonly facts: Facts | null;
  readonly onFind: (name: string) => void;
}

export function SelectionLine({facts, onFind}: Props) {
  return (
    <div class="selection">
      <div role="status" id="selection">
        {facts === null
          ? <span class="muted">Click a frame to zoom, or use the arrow keys. <kbd>?</kbd> lists all keys.</span>
          : <>
              <bdi class="method" dir="ltr">{clipped(facts.name, 600)}</bdi>
              <div class="facts">
                <span>{facts.numbers}</span> <span class="muted">{facts.what}</span>
              </div>
            </>}
      </div>
      {facts !== null && (
        <div class="actions">
          <button type="button" onClick={() => onFind(facts.name)}>Find all</button>
          <button type="button" onClick={() => void navigator.clipboard?.writeText(facts.name)}>Copy name</button>
        </div>
      )}
    </div>
  );
}
