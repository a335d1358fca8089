// Who was blocked where, by whom: pairs of call chains, and the graph of threads or methods that blocked each other.
import type {Threads} from '../data/recording';
import {isOfOwner, labelOf, MORE, shortLabelOf, type Aspect} from './aspects';
import {clippedLength, isInCut, isLock, type Contentions, type Cut} from './contentions';
import {aspectKeys} from './lock_tree';

// Calls `tell` with each piece of the contentions that the path of keys leads to.
export function eachPiece(data: Contentions, cut: Cut, by: readonly Aspect[], path: readonly number[],
                          tell: (row: number, piece: number, ns: number) => void): void {
  const allGroups = by.includes('group');
  const wanted = path.map((key, level) => ({key, keys: aspectKeys(data, by[level]!), ofOwner: isOfOwner(by[level]!)}));
  const ofRow = wanted.filter((each) => !each.ofOwner);
  const ofPiece = wanted.filter((each) => each.ofOwner);
  for (let row = 0; row < data.count; row++) {
    if (!allGroups && !isLock(data.group[row]!)) continue;
    if (!isInCut(data, cut, row)) continue;
    if (!ofRow.every(({keys, key}) => keys[row] === key)) continue;
    const begin = data.begin[row]!;
    let part = 1;
    if (!cut.whole) {
      const span = data.longest[row]!;
      const left = clippedLength(cut, begin, begin + span);
      if (left < 0) continue;
      part = span > 0 ? left / span : 1;
    }
    let at = begin;
    for (let piece = data.firstPiece[row]!; piece < data.firstPiece[row + 1]!; piece++) {
      let ns = data.pieceLength[piece]!;
      if (!cut.whole) {
        const end = at + ns;
        ns = data.more[row]! > 0 ? Math.round(ns * part) : clippedLength(cut, at, end);
        at = end;
        if (ns < 0) continue;
      }
      if (ofPiece.every(({keys, key}) => keys[piece] === key)) tell(row, piece, ns);
    }
  }
}

// One way in which it happened: the same chains of the one who was blocked and of the one who held the lock.
export interface Case {
  readonly row: number; // a contention that is one, the longest
  readonly piece: number;
  readonly ns: number;
  readonly times: number;
}

export interface Cases {
  readonly cases: readonly Case[]; // most time first
  readonly all: number; // how many there are
  readonly ns: number; // of all
}

const MOST_CASES = 100;

export function casesOf(data: Contentions, cut: Cut, by: readonly Aspect[], path: readonly number[]): Cases {
  interface Sum {
    row: number;
    piece: number;
    longest: number;
    lastRow: number;
    ns: number;
    times: number;
  }
  const sums = new Map<number, Sum>();
  let all = 0;
  eachPiece(data, cut, by, path, (row, piece, ns) => {
    all += ns;
    const key = (data.chain[row]! * data.chains.count + data.ownerChain[piece]!) * 4 + data.ownerKind[piece]!;
    const sum = sums.get(key);
    if (sum === undefined) {
      sums.set(key, {row, piece, longest: ns, lastRow: row, ns, times: 1 + data.more[row]!});
      return;
    }
    sum.ns += ns;
    if (sum.lastRow !== row) sum.times += 1 + data.more[row]!;
    sum.lastRow = row;
    if (ns > sum.longest) Object.assign(sum, {row, piece, longest: ns});
  });
  const cases = [...sums.values()].sort((a, b) => b.ns - a.ns || a.row - b.row);
  const shown = cases.slice(0, MOST_CASES).map(({row, piece, ns, times}) => ({row, piece, ns, times}));
  return {cases: shown, all: cases.length, ns: all};
}

// A graph in two columns: those who held locks on the left, those who were blocked on the right.
export type GraphOf = 'thread' | 'pool' | 'method';

export interface GraphNode {
  readonly label: string; // in full
  readonly short: string;
  readonly ns: number;
  readonly key: number; // of the aspect; MORE if it stands for several
}

export interface GraphEdge {
  readonly owner: number; // index into owners
  readonly blocked: number;
  readonly ns: number;
  readonly times: number;
}

export interface Graph {
  readonly owners: readonly GraphNode[]; // most time first, the rest as one at last
  readonly blocked: readonly GraphNode[];
  readonly edges: readonly GraphEdge[]; // most time first
  readonly ns: number;
}

const MOST_IN_COLUMN = 12;

export function blameGraph(data: Contentions, threads: Threads, cut: Cut, by: readonly Aspect[], path: readonly number[],
                           of: GraphOf): Graph {
  const blockedAspect: Aspect = of === 'method' ? 'blocked-method' : 'blocked-thread';
  const ownerAspect: Aspect = of === 'method' ? 'owner-method' : 'owner-thread';
  const blockedKeys = aspectKeys(data, blockedAspect);
  const ownerKeys = aspectKeys(data, ownerAspect);
  // Threads of a pool are one node: the first of them stands for it.
  const leader = new Int32Array(threads.count).map((_, i) => i);
  if (of === 'pool') {
    const firsts = new Map<string, number>();
    for (let i = 0; i < threads.count; i++) {
      const pool = threads.pool[i]!;
      if (pool === '') continue;
      if (!firsts.has(pool)) firsts.set(pool, i);
      leader[i] = firsts.get(pool)!;
    }
  }
  const keyOf = (key: number): number => (of === 'pool' && key >= 0 ? leader[key]! : key);
  const owners = new Map<number, number>();
  const blocked = new Map<number, number>();
  const edges = new Map<number, {owner: number; blocked: number; ns: number; times: number; lastRow: number}>();
  let all = 0;
  eachPiece(data, cut, by, path, (row, piece, ns) => {
    const owner = keyOf(ownerKeys[piece]!);
    const victim = keyOf(blockedKeys[row]!);
    all += ns;
    owners.set(owner, (owners.get(owner) ?? 0) + ns);
    blocked.set(victim, (blocked.get(victim) ?? 0) + ns);
    const name = (owner - MORE) * 2 ** 26 + victim - MORE;
    const edge = edges.get(name);
    if (edge === undefined) {
      edges.set(name, {owner, blocked: victim, ns, times: 1 + data.more[row]!, lastRow: row});
    } else {
      edge.ns += ns;
      if (edge.lastRow !== row) edge.times += 1 + data.more[row]!;
      edge.lastRow = row;
    }
  });
  const label = (aspect: Aspect, key: number, short: boolean): string => {
    if (of === 'pool' && key >= 0 && threads.pool[key] !== '') return threads.pool[key]!;
    return short ? shortLabelOf(data, threads, aspect, key) : labelOf(data, threads, aspect, key);
  };
  const column = (sums: Map<number, number>, aspect: Aspect): {nodes: GraphNode[]; index: Map<number, number>} => {
    const sorted = [...sums].sort(([a, x], [b, y]) => y - x || a - b);
    const room = sorted.length <= MOST_IN_COLUMN ? sorted.length : MOST_IN_COLUMN - 1;
    const index = new Map(sorted.map(([key], i) => [key, Math.min(i, room)]));
    const nodes = sorted.slice(0, room).map(([key, ns]): GraphNode =>
      ({label: label(aspect, key, false), short: label(aspect, key, true), ns, key}));
    const rest = sorted.slice(room);
    if (rest.length > 0) {
      const words = `${rest.length.toLocaleString('en')} others`;
      nodes.push({label: words, short: words, ns: rest.reduce((sum, [, ns]) => sum + ns, 0), key: MORE});
    }
    return {nodes, index};
  };
  const left = column(owners, ownerAspect);
  const right = column(blocked, blockedAspect);
  const merged = new Map<number, {owner: number; blocked: number; ns: number; times: number}>();
  for (const edge of edges.values()) {
    const owner = left.index.get(edge.owner)!;
    const victim = right.index.get(edge.blocked)!;
    const known = merged.get(owner * 1000 + victim);
    if (known === undefined) {
      merged.set(owner * 1000 + victim, {owner, blocked: victim, ns: edge.ns, times: edge.times});
    } else {
      known.ns += edge.ns;
      known.times += edge.times;
    }
  }
  return {owners: left.nodes, blocked: right.nodes, ns: all, edges: [...merged.values()].sort((a, b) => b.ns - a.ns)};
}
