import type {Paint} from '../flame/palette';

export function Swatch({paint}: {paint: Paint}) {
  return <span class={`swatch ${paint.texture}`} style={{backgroundColor: paint.fill}} aria-hidden="true" />;
}
