// Puts the visible rows of a layout onto a canvas.
import {nameOfKey} from '../model/frame_types';
import type {Tree} from '../model/tree';
import type {Coloring} from './coloring';
import {cachedMeasure, fitLabel, type TextMeasure} from './label';
import {rectangleOf, type Layout} from './layout';
import type {Paint, Palette} from './palette';
import {Textures} from './textures';

export interface Scene {
  readonly tree: Tree;
  readonly names: readonly string[];
  readonly layout: Layout;
  readonly focus: number;
  readonly selected: number; // -1: none
  readonly hovered: number; // a rectangle, -1: none
  readonly matches: Uint8Array | null; // by name; null: no search
  readonly coloring: Coloring;
  readonly onlyKind: number; // -1: all; others are dimmed
  readonly rootAtTop: boolean;
}

export interface Viewport {
  readonly width: number;
  readonly height: number;
  readonly scroll: number; // from the top of the whole drawing
  readonly rowHeight: number;
  readonly pixelRatio: number;
}

export const FONT = '12px system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", sans-serif';
const DIMMED = 0.32;
const LEAST_TEXTURE = 4; // pixels: on less it is not seen

// Top of a row on the screen.
export function rowTop(row: number, rows: number, view: Viewport, rootAtTop: boolean): number {
  const height = rows * view.rowHeight;
  return (rootAtTop ? row * view.rowHeight : height - (row + 1) * view.rowHeight) - view.scroll;
}

export function rowAt(y: number, rows: number, view: Viewport, rootAtTop: boolean): number {
  const fromTop = Math.floor((y + view.scroll) / view.rowHeight);
  return rootAtTop ? fromTop : rows - 1 - fromTop;
}

export class Painter {
  private readonly context: CanvasRenderingContext2D;
  private measure: TextMeasure | null = null;
  private readonly textures = new Textures();

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d', {alpha: false})!;
  }

  draw(scene: Scene, view: Viewport, palette: Palette): void {
    const {context, canvas} = this;
    const width = Math.round(view.width * view.pixelRatio);
    const height = Math.round(view.height * view.pixelRatio);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    context.setTransform(view.pixelRatio, 0, 0, view.pixelRatio, 0, 0);
    context.font = FONT;
    context.textBaseline = 'middle';
    context.direction = 'ltr';
    this.measure ??= cachedMeasure((text) => context.measureText(text).width);
    context.fillStyle = palette.background;
    context.fillRect(0, 0, view.width, view.height);

    const {rows} = scene.layout;
    const a = rowAt(0, rows, view, scene.rootAtTop);
    const b = rowAt(view.height, rows, view, scene.rootAtTop);
    for (let row = Math.max(0, Math.min(a, b)); row <= Math.min(rows - 1, Math.max(a, b)); row++) {
      this.drawRow(scene, view, palette, row);
    }
    context.globalAlpha = 1;
    this.outline(scene, view, palette);
  }

  private drawRow(scene: Scene, view: Viewport, palette: Palette, row: number): void {
    const {context} = this;
    const {layout, tree, names} = scene;
    const snap = (x: number): number => Math.round(x * view.pixelRatio) / view.pixelRatio;
    const gap = 1 / view.pixelRatio;
    const top = snap(rowTop(row, layout.rows, view, scene.rootAtTop));
    const height = view.rowHeight - gap;
    let fill = '';
    let wasPale = false;
    context.globalAlpha = 1;
    for (let i = layout.rowStart[row]!; i < layout.rowStart[row + 1]!; i++) {
      const node = layout.node[i]!;
      const left = snap(layout.left[i]!);
      const right = Math.max(snap(layout.right[i]!), left + gap);
      const isRest = layout.isRest[i] === 1;
      const name = nameOfKey(tree.key[node]!);
      const isMatch = !isRest && scene.matches !== null && scene.matches[name] === 1;
      const paint = isRest ? palette.rest : isMatch ? palette.match : paintOf(scene, palette, node);
      const width = right - left > 3 ? right - left - gap : right - left;
      // Canvases parse colours each time they are set: not for each of ten thousand boxes.
      const isPale = isDimmed(scene, node, isMatch);
      if (isPale !== wasPale) context.globalAlpha = (wasPale = isPale) ? DIMMED : 1;
      if (paint.fill !== fill) context.fillStyle = fill = paint.fill;
      context.fillRect(left, top, width, height);
      if (paint.texture !== 'none' && width > LEAST_TEXTURE) {
        fill = '';
        context.fillStyle = this.textures.of(context, paint.texture, palette.mark, view.pixelRatio);
        context.fillRect(left, top, width, height);
      }
      if (isRest || width < 16) continue;
      const label = fitLabel(names[name]!, tree.type[node]!, width - 8, this.measure!);
      if (label === '') continue;
      // Dimmed frames keep their names readable.
      if (isPale) context.globalAlpha = 0.75;
      context.fillStyle = fill = isMatch ? palette.matchText : palette.text;
      context.fillText(label, left + 4, top + height / 2 + 0.5);
      if (isPale) context.globalAlpha = DIMMED;
    }
  }

  private outline(scene: Scene, view: Viewport, palette: Palette): void {
    const frame = (i: number, thickness: number): void => {
      if (i < 0) return;
      const row = scene.tree.depth[scene.layout.node[i]!]!;
      const top = rowTop(row, scene.layout.rows, view, scene.rootAtTop);
      const inset = thickness / 2;
      this.context.strokeStyle = palette.selection;
      this.context.lineWidth = thickness;
      this.context.strokeRect(scene.layout.left[i]! + inset, top + inset,
        Math.max(scene.layout.right[i]! - scene.layout.left[i]! - thickness, 1), view.rowHeight - thickness);
    };
    frame(scene.hovered, 1);
    if (scene.selected >= 0) frame(rectangleOf(scene.layout, scene.tree, scene.selected), 2);
  }
}

export function paintOf(scene: Pick<Scene, 'coloring' | 'tree'>, palette: Palette, node: number): Paint {
  const kind = scene.coloring.of(scene.tree, node);
  return kind < 0 ? palette.node : scene.coloring.paint(palette, kind);
}

export function isDimmed(scene: Omit<Scene, 'layout'>, node: number, isMatch: boolean): boolean {
  if (scene.onlyKind >= 0) return scene.coloring.of(scene.tree, node) !== scene.onlyKind;
  if (scene.matches !== null) return !isMatch;
  return node < scene.focus && scene.tree.end[node]! > scene.focus;
}
