// The contentions of a recording (docs/page.md, part locks), and what the selected time and threads leave of them.
import {Chains} from '../charts/chains';
import {oncePer} from '../charts/parts';
import type {Columns} from '../data/columns';
import type {Recording} from '../data/recording';
import {numberOwners, type Owners} from './owners';

export const enum OwnerKind {Chain = 0, Thread = 1, HandOff = 2, Unknown = 3}
export const GROUPS = ['monitor', 'juc', 'condition', 'other'] as const;

export interface Contentions {
  readonly count: number;
  readonly chains: Chains;
  readonly classes: readonly string[];
  readonly objects: readonly string[];
  readonly lockClass: Int32Array;
  readonly begin: Float64Array;
  readonly length: Float64Array;
  readonly lock: Int32Array; // 1 + row in objects
  readonly thread: Int32Array;
  readonly chain: Int32Array;
  readonly method: Int32Array; // 1 + label
  readonly group: Uint8Array;
  readonly afterWait: Uint8Array;
  readonly more: Float64Array; // how many besides the first
  readonly longest: Float64Array; // of all that the row stands for
  readonly span: Float64Array; // when that was: its length, but several are somewhere within the time of a bucket
  readonly firstPiece: Int32Array; // one more than there are contentions
  readonly pieceLength: Float64Array;
  readonly pieceLongest: Float64Array | null; // of rows that stand for several; null: there are none
  readonly owners: Owners;
}

// Contentions that are added up began within so much of each other (src/export/page_locks.h), in most recordings.
const BUCKET_NS = 100e6;

const damaged = (): Error => new Error('the data of this page is damaged');

function decode(columns: Columns, recording: Recording): Contentions {
  const threads = recording.threads.count;
  const chains = new Chains(columns);
  const classes = columns.texts('classes');
  const objects = columns.texts('objects');
  const length = columns.numbers('length');
  const count = length.length;
  const pieces = columns.numbers('pieces');
  const pieceLength = columns.numbers('piece_length');
  const firstPiece = new Int32Array(count + 1);
  for (let i = 0; i < count; i++) firstPiece[i + 1] = firstPiece[i]! + (pieces[i] ?? 0);
  if (firstPiece[count] !== pieceLength.length) throw damaged();
  const of = (name: string, limit: number, rows: number): Int32Array => {
    const column = columns.indices(name, limit);
    if (column.length === rows) return column;
    if (column.length > 0) throw damaged();
    return new Int32Array(rows);
  };
  const sparse = (name: string): Float64Array => {
    const column = columns.numbers(name);
    return column.length === count ? column : new Float64Array(count);
  };
  const begin = columns.numbers('begin');
  if (begin.length !== count) throw damaged();
  const labels = chains.labels.length + 1;
  const more = sparse('more');
  const pieceLongest = columns.numbers('piece_longest');
  const span = length.map((ns, i) => (more[i]! > 0 ? Math.max(ns, BUCKET_NS) : ns));
  const longest = Float64Array.from(sparse('longest'), (ns, i) => (more[i]! > 0 && ns > 0 ? ns : length[i]!));
  return {
    count, chains, classes, objects, begin, length, more, longest, span, firstPiece, pieceLength,
    pieceLongest: pieceLongest.length === pieceLength.length && more.some((n) => n > 0) ? pieceLongest : null,
    lockClass: of('lock_class', Math.max(classes.length, 1), objects.length),
    lock: of('lock', objects.length + 1, count),
    thread: of('thread', Math.max(threads, 1), count),
    chain: of('chain', Math.max(chains.count, 1), count),
    method: of('method', labels, count),
    group: Uint8Array.from(of('group', GROUPS.length, count)),
    afterWait: Uint8Array.from(of('after_wait', 2, count)),
    owners: numberOwners(of('owner_kind', 4, pieceLength.length), of('owner_thread', threads + 1, pieceLength.length),
      of('owner_chain', Math.max(chains.count, 1), pieceLength.length), of('owner_method', labels, pieceLength.length), threads, Math.max(chains.count, 1)),
  };
}

export const contentionsOf = oncePer(decode);

// What of a recording is looked at: time in ns, and threads that were blocked.
export interface Cut {
  readonly from: number;
  readonly to: number;
  readonly whole: boolean; // of the time
  readonly isChosen: ((thread: number) => boolean) | null; // null: all
  readonly rows: Uint8Array | null; // by contention: what a search left; null: all
}

export const EVERYTHING: Cut = {from: -Infinity, to: Infinity, whole: true, isChosen: null, rows: null};

export const isInCut = (data: Contentions, cut: Cut, row: number): boolean =>
  (cut.rows === null || cut.rows[row] === 1) && (cut.isChosen === null || cut.isChosen(data.thread[row]!));

// Of an interval, what is in the selected time: as the command cuts (src/analysis/selection.h). Negative: nothing.
export function clippedLength(cut: Cut, begin: number, end: number): number {
  const from = Math.max(begin, cut.from);
  const to = Math.min(end, cut.to);
  if (from < to) return to - from;
  return begin === end && from === to && from < cut.to ? 0 : -1;
}

// Is it a lock that is waited for because somebody holds it? (Not: a condition, a sleep.)
export const isLock = (group: number): boolean => group <= 1;
