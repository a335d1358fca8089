// The rows of the tree that can be seen: nodes whose parents are all open.
import {nodeAt, pathOf, type LockTree} from './lock_tree';

export interface TreeRow {
  readonly node: number;
  readonly level: number; // from 1
  readonly isOpen: boolean;
  readonly hasChildren: boolean;
  readonly place: number; // among its siblings, from 1
  readonly siblings: number;
}

export function visibleRows(tree: LockTree, open: ReadonlySet<number>): TreeRow[] {
  const rows: TreeRow[] = [];
  const add = (parent: number): void => {
    const children = tree.children(parent);
    children.forEach((node, i) => {
      const level = tree.level[node]!;
      const hasChildren = level < tree.by.length;
      const isOpen = hasChildren && open.has(node);
      rows.push({node, level, isOpen, hasChildren, place: i + 1, siblings: children.length});
      if (isOpen) add(node); // as deep as there are aspects
    });
  };
  if (tree.by.length > 0) add(0);
  return rows;
}

// The way along the heaviest nodes: what a reader would open first.
export function heaviestPath(tree: LockTree): Set<number> {
  const open = new Set<number>();
  for (let node = 0; tree.level[node]! < tree.by.length;) {
    const [first] = tree.children(node);
    if (first === undefined) break;
    open.add((node = first));
  }
  return open;
}

// In addresses: keys of a path are joined by dots, paths by ~.
export const formatPath = (path: readonly number[]): string => path.join('.');

export function parsePath(text: string | undefined): number[] | null {
  if (text === undefined || !/^-?\d{1,9}(\.-?\d{1,9}){0,9}$/.test(text)) return null;
  return text.split('.').map(Number);
}

const MOST_OPEN = 60;
const NONE = 'none';

export function formatOpen(tree: LockTree, open: ReadonlySet<number>): string {
  const paths = [...open].slice(-MOST_OPEN).map((node) => formatPath(pathOf(tree, node)));
  return paths.length === 0 ? NONE : paths.join('~');
}

export function parseOpen(tree: LockTree, text: string | undefined): Set<number> {
  if (text === undefined || text === '') return heaviestPath(tree);
  if (text === NONE) return new Set();
  const open = new Set<number>();
  for (const part of text.split('~').slice(0, MOST_OPEN)) {
    const path = parsePath(part);
    const node = path === null ? -1 : nodeAt(tree, path);
    if (node > 0) open.add(node);
  }
  return open;
}
