// What colours mean: how a frame ran, or, of a comparison, how it changed.
import {CHANGES, changeOf, type Kind} from '../model/changes';
import {FRAME_TYPES, NO_FRAME} from '../model/frame_types';
import type {Tree} from '../model/tree';
import type {Paint, Palette} from './palette';

export interface Coloring {
  readonly kinds: readonly Kind[];
  readonly meaning: string;
  readonly of: (tree: Tree, node: number) => number; // an index of kinds; -1: none of them
  readonly paint: (palette: Palette, kind: number) => Paint;
}

export const BY_TYPE: Coloring = {
  kinds: FRAME_TYPES,
  meaning: 'Frame types and their share of self time',
  of: (tree, node) => (tree.type[node] === NO_FRAME ? -1 : tree.type[node]!),
  paint: (palette, kind) => palette.types[FRAME_TYPES[kind]!.name]!,
};

export const BY_CHANGE: Coloring = {
  kinds: CHANGES,
  meaning: 'Changes and their share of self time',
  of: changeOf,
  paint: (palette, kind) => palette.changes[CHANGES[kind]!.name]!,
};

// Self weight by kind.
export function weightByKind(coloring: Coloring, tree: Tree): Float64Array {
  const weights = new Float64Array(coloring.kinds.length);
  for (let i = 0; i < tree.count; i++) {
    const kind = coloring.of(tree, i);
    if (kind >= 0) weights[kind]! += tree.self[i]!;
  }
  return weights;
}
