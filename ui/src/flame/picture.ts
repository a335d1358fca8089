// Flame graphs as a picture to keep: all rows, not just those in sight.
import {Painter, type Scene} from './draw';
import type {View} from './facts';
import {layoutFlame} from './layout';
import type {Palette} from './palette';

interface Part {
  readonly view: View;
  readonly focus: number;
  readonly rootAtTop: boolean;
  readonly matches: Uint8Array | null;
}

const WIDTH = 1600;
const ROW = 18;
const TALLEST = 6000; // of all parts; what is further from the root is cut
const GAP = 12;

// One below the other.
export function flamePicture(parts: readonly Part[], palette: Palette): HTMLCanvasElement {
  const canvases = parts.map(({view, focus, rootAtTop, matches}) => {
    const canvas = document.createElement('canvas');
    const layout = layoutFlame(view.tree, focus, WIDTH, 0.5);
    const height = Math.min(layout.rows * ROW, Math.floor(TALLEST / parts.length));
    const scene: Scene = {tree: view.tree, names: view.profile.names, layout, focus, selected: -1, hovered: -1, matches,
                          coloring: view.coloring, onlyKind: -1, rootAtTop};
    new Painter(canvas).draw(scene, {width: WIDTH, height, scroll: rootAtTop ? 0 : layout.rows * ROW - height, rowHeight: ROW,
                                     pixelRatio: 1}, palette);
    return canvas;
  });
  if (canvases.length === 1) return canvases[0]!;
  const all = document.createElement('canvas');
  all.width = WIDTH;
  all.height = canvases.reduce((sum, {height}) => sum + height + GAP, -GAP);
  const context = all.getContext('2d')!;
  context.fillStyle = palette.background;
  context.fillRect(0, 0, all.width, all.height);
  let top = 0;
  for (const canvas of canvases) {
    context.drawImage(canvas, 0, top);
    top += canvas.height + GAP;
  }
  return all;
}
