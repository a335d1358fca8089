// Stripes and dots: what tells colours apart without colour. Made once for each canvas.
import type {Texture} from './palette';

export class Textures {
  private readonly known = new Map<string, CanvasPattern>();

  of(target: CanvasRenderingContext2D, kind: Texture, mark: string, pixelRatio: number): CanvasPattern {
    const id = `${kind} ${mark} ${pixelRatio}`;
    const known = this.known.get(id);
    if (known) return known;
    const size = Math.max(4, Math.round(6 * pixelRatio));
    const tile = document.createElement('canvas');
    tile.width = tile.height = size;
    const context = tile.getContext('2d')!;
    context.fillStyle = context.strokeStyle = mark;
    if (kind === 'dots') {
      const dot = Math.max(1, Math.round(1.4 * pixelRatio));
      context.fillRect(0, 0, dot, dot);
      context.fillRect(Math.round(size / 2), Math.round(size / 2), dot, dot);
    } else {
      context.lineWidth = 1.2 * pixelRatio;
      context.beginPath();
      for (const shift of [-size, 0, size]) {
        context.moveTo(shift - 1, size + 1);
        context.lineTo(shift + size + 1, -1);
      }
      context.stroke();
    }
    const pattern = target.createPattern(tile, 'repeat')!;
    pattern.setTransform(new DOMMatrix().scale(1 / pixelRatio));
    this.known.set(id, pattern);
    return pattern;
  }
}
