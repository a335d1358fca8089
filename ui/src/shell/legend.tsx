// Which colour is which type, and how much time each took. Pressing one shows its frames alone: no colour needed.
import {useMemo} from 'preact/hooks';
import type {View} from '../flame/facts';
import type {Palette} from '../flame/palette';
import {FRAME_TYPES} from '../model/frame_types';
import {share} from '../model/format';
import {weightByType} from '../model/methods';
import {Swatch} from './swatch';

interface Props {
  readonly view: View;
  readonly palette: Palette;
  readonly only: number;
  readonly onOnly: (type: number) => void;
}

export function Legend({view, palette, only, onOnly}: Props) {
  const {calls} = view;
  const weights = useMemo(() => weightByType(calls), [calls]);
  const present = useMemo(() => {
    const seen = new Set(calls.type);
    return FRAME_TYPES.map((_, type) => type).filter((type) => seen.has(type));
  }, [calls]);
  return (
    <div class="legend" role="group" aria-label="Frame types and their share of self time">
      {present.map((type) => (
        <button type="button" key={type} aria-pressed={only === type} title={FRAME_TYPES[type]!.meaning}
          onClick={() => onOnly(only === type ? -1 : type)}>
          <Swatch paint={palette.types[FRAME_TYPES[type]!.name]!} />
          {FRAME_TYPES[type]!.name}
          <span class="muted number">{share(weights[type]!, calls.total[0]!)}</span>
        </button>
      ))}
    </div>
  );
}
