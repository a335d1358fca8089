// Puts a ring chart onto a canvas.
import {isDimmed, paintOf, FONT, type Scene} from '../flame/draw';
import {cachedMeasure, fitLabel, type TextMeasure} from '../flame/label';
import type {Palette} from '../flame/palette';
import {Textures} from '../flame/textures';
import {nameOfKey} from '../model/frame_types';
import {splitName} from '../model/names';
import type {RingLayout} from './layout';

export interface RingScene extends Omit<Scene, 'layout' | 'rootAtTop'> {
  readonly ring: RingLayout;
  readonly centreLines: readonly string[]; // below the name
}

const TOP = -Math.PI / 2; // where canvases have their 0 is at the right
const DIMMED = 0.32;
const LEAST_LABEL = 34; // pixels of arc

export class RingPainter {
  private readonly context: CanvasRenderingContext2D;
  private readonly textures = new Textures();
  private measure: TextMeasure | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d', {alpha: false})!;
  }

  draw(scene: RingScene, width: number, height: number, pixelRatio: number, palette: Palette): void {
    const {canvas, context} = this;
    canvas.width = Math.round(width * pixelRatio);
    canvas.height = Math.round(height * pixelRatio);
    context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
    context.fillStyle = palette.background;
    context.fillRect(0, 0, width, height);
    context.translate(width / 2, height / 2);
    context.font = FONT;
    context.textBaseline = 'middle';
    context.direction = 'ltr';
    this.measure ??= cachedMeasure((text) => context.measureText(text).width);
    const {ring} = scene;
    const last = Math.min(ring.rings, ring.layout.rows - 1 - ring.firstRow);
    for (let level = 1; level <= last; level++) this.drawRing(scene, level, pixelRatio, palette);
    context.globalAlpha = 1;
    this.outline(scene, palette);
    this.drawCentre(scene, palette);
  }

  private arcPath(ring: RingLayout, level: number, from: number, to: number): void {
    const inner = ring.centre + (level - 1) * ring.thickness + 0.5;
    this.context.beginPath();
    this.context.arc(0, 0, inner + ring.thickness - 1, TOP + from, TOP + to);
    this.context.arc(0, 0, inner, TOP + to, TOP + from, true);
    this.context.closePath();
  }

  private drawRing(scene: RingScene, level: number, pixelRatio: number, palette: Palette): void {
    const {context} = this;
    const {ring, tree, names} = scene;
    const {layout} = ring;
    const row = ring.firstRow + level;
    const middle = ring.centre + (level - 0.5) * ring.thickness;
    for (let i = layout.rowStart[row]!; i < layout.rowStart[row + 1]!; i++) {
      const node = layout.node[i]!;
      const isRest = layout.isRest[i] === 1;
      const name = nameOfKey(tree.key[node]!);
      const isMatch = !isRest && scene.matches !== null && scene.matches[name] === 1;
      const paint = isRest ? palette.rest : isMatch ? palette.match : paintOf(scene, palette, node);
      const pixels = (layout.right[i]! - layout.left[i]!) * middle;
      const gap = pixels > 4 ? 0.5 / middle : 0; // a thin line between neighbours
      this.arcPath(ring, level, layout.left[i]! + gap, layout.right[i]! - gap);
      context.globalAlpha = isDimmed({...scene, rootAtTop: false}, node, isMatch) ? DIMMED : 1;
      context.fillStyle = paint.fill;
      context.fill();
      if (paint.texture !== 'none' && pixels > 3) {
        context.fillStyle = this.textures.of(context, paint.texture, palette.mark, pixelRatio);
        context.fill();
      }
      if (isRest || pixels < LEAST_LABEL) continue;
      const label = fitLabel(names[name]!, tree.type[node]!, pixels - 8, this.measure!);
      context.globalAlpha = context.globalAlpha < 1 ? 0.75 : 1;
      context.fillStyle = isMatch ? palette.matchText : palette.text;
      this.textOnArc(label, (layout.left[i]! + layout.right[i]!) / 2, middle);
    }
  }

  // Character by character along the ring; in the lower half the other way round, so that nothing is upside down.
  private textOnArc(text: string, angle: number, radius: number): void {
    const {context} = this;
    if (text === '') return;
    const isBelow = angle > Math.PI / 2 && angle < 1.5 * Math.PI;
    const characters = [...text];
    const widths = characters.map((character) => this.measure!.widthOf(character));
    const length = widths.reduce((a, b) => a + b, 0);
    let at = -length / 2;
    characters.forEach((character, i) => {
      const turn = (at + widths[i]! / 2) / radius;
      context.save();
      context.rotate(isBelow ? angle - turn + Math.PI : angle + turn);
      context.fillText(character, -widths[i]! / 2, isBelow ? radius : -radius);
      context.restore();
      at += widths[i]!;
    });
  }

  private drawCentre(scene: RingScene, palette: Palette): void {
    const {context} = this;
    const {ring, tree, focus, names} = scene;
    context.beginPath();
    context.arc(0, 0, ring.centre - 1, 0, 2 * Math.PI);
    const paint = paintOf(scene, palette, focus);
    context.fillStyle = focus === 0 ? palette.node.fill : paint.fill;
    context.fill();
    context.fillStyle = palette.text;
    context.textAlign = 'center';
    const name = splitName(names[nameOfKey(tree.key[focus]!)]!).inner;
    const lines = [fitLabel(name, 0, 2 * ring.centre - 14, this.measure!), ...scene.centreLines];
    lines.forEach((line, i) => context.fillText(line, 0, (i - (lines.length - 1) / 2) * 15));
    context.textAlign = 'start';
  }

  private outline(scene: RingScene, palette: Palette): void {
    const {ring, tree} = scene;
    const frame = (i: number, thickness: number): void => {
      if (i < 0) return;
      const level = tree.depth[ring.layout.node[i]!]! - ring.firstRow;
      if (level < 1 || level > ring.rings) return;
      this.arcPath(ring, level, ring.layout.left[i]!, ring.layout.right[i]!);
      this.context.strokeStyle = palette.selection;
      this.context.lineWidth = thickness;
      this.context.stroke();
    };
    frame(scene.hovered, 1);
    if (scene.selected < 0) return;
    const {layout} = ring;
    const row = tree.depth[scene.selected]!;
    if (row >= layout.rows) return;
    for (let i = layout.rowStart[row]!; i < layout.rowStart[row + 1]!; i++) {
      if (layout.node[i] === scene.selected && layout.isRest[i] === 0) frame(i, 2);
    }
  }
}
