// Who was blocked where, by whom: pairs of call chains, and the graph of threads or methods that blocked each other.
import type {Threads} from '../data/recording';
import {isOfOwner, labelOf, MORE, shortLabelOf, type Aspect} from './aspects';
import type {Contentions, Cut} from './contentions';
import {keptOf, type Kept} from './kept';
import {aspectKeys} from './lock_tree';

// What the path of keys leads to: kept contentions, and owners.
interface Chosen {
  readonly kept: Kept;
  readonly rows: Uint8Array | null; // by kept contention; null: all
  readonly owners: Uint8Array | null; // by owner; null: all
}

function chosenBy(data: Contentions, cut: Cut, by: readonly Aspect[], path: readonly number[]): Chosen {
  const kept = keptOf(data, cut, by.includes('group'));
  let rows: Uint8Array | null = null;
  let owners: Uint8Array | null = null;
  path.forEach((key, level) => {
    const keys = aspectKeys(data, by[level]!);
    if (isOfOwner(by[level]!)) {
      owners ??= new Uint8Array(data.owners.count).fill(1);
      for (let i = 0; i < owners.length; i++) if (keys[i] !== key) owners[i] = 0;
    } else {
      rows ??= new Uint8Array(kept.row.length).fill(1);
      for (let k = 0; k < rows.length; k++) if (keys[kept.row[k]!] !== key) rows[k] = 0;
    }
  });
  return {kept, rows, owners};
}

// Sums by pairs of small numbers: in a table if that is not too large.
class PairSums {
  private readonly dense: Int32Array | null; // 1 + index
  private readonly sparse = new Map<number, number>();
  readonly a: number[] = [];
  readonly b: number[] = [];
  readonly ns: number[] = [];
  readonly times: number[] = [];
  readonly longest: number[] = [];
  readonly longestAt: number[] = []; // kept contention
  readonly longestPiece: number[] = []; // kept piece
  private readonly last: number[] = [];

  constructor(rows: number, private readonly width: number) {
    this.dense = rows * width <= 1 << 22 ? new Int32Array(rows * width) : null;
  }

  add(a: number, b: number, ns: number, k: number, piece: number, times: number): void {
    const place = a * this.width + b;
    let at = this.dense !== null ? this.dense[place]! - 1 : this.sparse.get(place) ?? -1;
    if (at < 0) {
      at = this.a.length;
      if (this.dense !== null) this.dense[place] = at + 1;
      else this.sparse.set(place, at);
      this.a.push(a);
      this.b.push(b);
      this.ns.push(0);
      this.times.push(0);
      this.longest.push(-1);
      this.longestAt.push(k);
      this.longestPiece.push(piece);
      this.last.push(-1);
    }
    this.ns[at]! += ns;
    if (this.last[at] !== k) {
      this.last[at] = k;
      this.times[at]! += times;
    }
    if (ns > this.longest[at]!) {
      this.longest[at] = ns;
      this.longestAt[at] = k;
      this.longestPiece[at] = piece;
    }
  }
}

// Sums of all chosen pieces by what their contention and what their owner is.
function sumPairs(data: Contentions, {kept, rows, owners}: Chosen, rowKey: Int32Array, ownerKey: Int32Array, rowKeys: number, ownerKeys: number): PairSums {
  const sums = new PairSums(rowKeys, ownerKeys);
  const {firstPiece, pieceOwner, pieceNs} = kept;
  for (let k = 0; k < kept.row.length; k++) {
    if (rows !== null && rows[k] === 0) continue;
    const row = kept.row[k]!;
    const key = rowKey[row]!;
    const times = 1 + data.more[row]!;
    for (let p = firstPiece[k]!; p < firstPiece[k + 1]!; p++) {
      const owner = pieceOwner[p]!;
      if (owners === null || owners[owner] === 1) sums.add(key, ownerKey[owner]!, pieceNs[p]!, k, p, times);
    }
  }
  return sums;
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
  const chosen = chosenBy(data, cut, by, path);
  const {owners} = data;
  // What differs only in the thread is the same case.
  const first = new Map<number, number>();
  const alike = owners.chain.map((chain, i) => {
    const name = chain * 4 + owners.kind[i]!;
    if (!first.has(name)) first.set(name, first.size);
    return first.get(name)!;
  });
  const sums = sumPairs(data, chosen, data.chain, alike, data.chains.count, Math.max(first.size, 1));
  const order = sums.ns.map((_, i) => i).sort((x, y) => sums.ns[y]! - sums.ns[x]! || x - y);
  const {row, pieceOf} = chosen.kept;
  const cases = order.slice(0, MOST_CASES).map((i): Case => ({
    row: row[sums.longestAt[i]!]!, piece: pieceOf === null ? sums.longestPiece[i]! : pieceOf[sums.longestPiece[i]!]!,
    ns: sums.ns[i]!, times: sums.times[i]!}));
  return {cases, all: order.length, ns: sums.ns.reduce((all, ns) => all + ns, 0)};
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
  // Keys become small numbers.
  const numbered = (keys: Int32Array): {of: Int32Array; keys: number[]} => {
    const ids = new Map<number, number>();
    const list: number[] = [];
    const numbers = keys.map((key) => {
      const own = of === 'pool' && key >= 0 ? leader[key]! : key;
      let id = ids.get(own);
      if (id === undefined) {
        ids.set(own, (id = list.length));
        list.push(own);
      }
      return id;
    });
    return {of: numbers, keys: list};
  };
  const victims = numbered(blockedKeys);
  const holders = numbered(ownerKeys);
  const sums = sumPairs(data, chosenBy(data, cut, by, path), victims.of, holders.of, Math.max(victims.keys.length, 1), Math.max(holders.keys.length, 1));
  const owners = new Map<number, number>();
  const blocked = new Map<number, number>();
  let all = 0;
  const edges = sums.ns.map((ns, i) => {
    const owner = holders.keys[sums.b[i]!]!;
    const victim = victims.keys[sums.a[i]!]!;
    all += ns;
    owners.set(owner, (owners.get(owner) ?? 0) + ns);
    blocked.set(victim, (blocked.get(victim) ?? 0) + ns);
    return {owner, blocked: victim, ns, times: sums.times[i]!};
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
  for (const edge of edges) {
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
