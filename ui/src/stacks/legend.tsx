// Which colour is which kind of frame, and how much time each took. Pressing one shows its frames alone: no colour
// needed.
import {useMemo} from 'preact/hooks';
import {weightByKind} from '../flame/coloring';
import type {View} from '../flame/facts';
import type {Palette} from '../flame/palette';
import {share} from '../model/format';
import {Swatch} from './swatch';

interface Props {
  readonly view: View;
  readonly palette: Palette;
  readonly only: number;
  readonly onOnly: (kind: number) => void;
}

export function Legend({view, palette, only, onOnly}: Props) {
  const {calls, coloring} = view;
  const weights = useMemo(() => weightByKind(coloring, calls), [calls]);
  const present = useMemo(() => {
    const seen = new Set<number>();
    for (let i = 0; i < calls.count; i++) seen.add(coloring.of(calls, i));
    return coloring.kinds.map((_, kind) => kind).filter((kind) => seen.has(kind));
  }, [calls]);
  return (
    <div class="legend" role="group" aria-label={coloring.meaning}>
      {present.map((kind) => (
        <button type="button" key={kind} aria-pressed={only === kind} title={coloring.kinds[kind]!.meaning}
          onClick={() => onOnly(only === kind ? -1 : kind)}>
          <Swatch paint={coloring.paint(palette, kind)} />
          {coloring.kinds[kind]!.name}
          <span class="muted number">{share(weights[kind]!, calls.total[0]!)}</span>
        </button>
      ))}
    </div>
  );
}
