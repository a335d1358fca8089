// The selected frame in words; screen readers hear it when the selection moves.
import {clipped} from '../data/visible_text';
import type {Facts} from '../flame/facts';

interface Props {
  readonly facts: Facts | null;
  readonly hint: string; // while nothing is selected
  readonly onFind: (name: string) => void;
  readonly onCallers?: (name: string) => void;
  readonly onFlame?: () => void;
  readonly onTable?: () => void;
}

export function SelectionLine({facts, hint, onFind, onCallers, onFlame, onTable}: Props) {
  return (
    <div class="selection">
      <div role="status" id="selection">
        {facts === null
          ? <span class="muted">{hint} <kbd>?</kbd> lists all keys.</span>
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
          {onCallers && <button type="button" onClick={() => onCallers(facts.name)}>Callers</button>}
          {onFlame && <button type="button" onClick={onFlame}>Flame graph</button>}
          {onTable && <button type="button" onClick={onTable}>In the call tree</button>}
          <button type="button" onClick={() => void navigator.clipboard?.writeText(facts.name)}>Copy name</button>
        </div>
      )}
    </div>
  );
}
