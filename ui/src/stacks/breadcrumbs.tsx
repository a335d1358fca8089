// Where the zoom is: the callers of the frame in focus.
import {clipped} from '../data/visible_text';
import type {View} from '../flame/facts';
import {nameOfKey} from '../model/frame_types';
import {share} from '../model/format';
import {splitName} from '../model/names';

const MOST = 4; // at the inner end; the callers between them and the root are in the graph

interface Props {
  readonly view: View;
  readonly focus: number;
  readonly onZoom: (node: number) => void;
  readonly onReset: () => void;
}

export function Breadcrumbs({view, focus, onZoom, onReset}: Props) {
  const {tree, profile} = view;
  const inner: number[] = [];
  let node = focus;
  for (; node > 0 && inner.length < MOST; node = tree.parent[node]!) inner.unshift(node);
  const hidden = node > 0 ? tree.depth[node]! : 0;
  const label = (n: number): string => clipped(splitName(profile.names[nameOfKey(tree.key[n]!)]!).inner, 48);
  return (
    <nav class="breadcrumbs" aria-label="Zoom">
      <ol>
        <li>
          {focus === 0 ? <span aria-current="location">all</span> : <button type="button" onClick={onReset}>all</button>}
        </li>
        {hidden > 0 && <li class="muted">{`${hidden} more`}</li>}
        {inner.map((n) => (
          <li key={n}>
            {n === focus
              ? <span aria-current="location"><bdi dir="ltr">{label(n)}</bdi>{' '}
                  <span class="muted">{share(tree.total[n]!, view.calls.total[0]!)}</span></span>
              : <button type="button" onClick={() => onZoom(n)}><bdi dir="ltr">{label(n)}</bdi></button>}
          </li>
        ))}
      </ol>
    </nav>
  );
}
