// Small recordings with known answers, for tests of the views.
import {Columns} from '../src/data/columns';
import type {Recording, Threads} from '../src/data/recording';
import type {Head} from '../src/data/head';
import {encodeColumns, type Column} from './story_columns';

export const NO_COLUMNS = new Columns(encodeColumns({}));

export function threadsNamed(names: readonly string[], kinds: readonly number[] = [], pools: readonly string[] = [],
                             columns: Columns = NO_COLUMNS): Threads {
  return {
    count: names.length, name: names, pool: names.map((_, i) => pools[i] ?? ''),
    kind: Uint8Array.from(names, (_, i) => kinds[i] ?? 0), osId: Float64Array.from(names, (_, i) => 100 + i),
    javaId: Float64Array.from(names, (_, i) => 1 + i), virtual: new Uint8Array(names.length),
    merged: new Float64Array(names.length), columns,
  };
}

export function recordingOf(head: Partial<Head>, threads: Threads, parts: Readonly<Record<string, Columns>>): Recording {
  const whole = {
    title: 'demo', file: 'demo.jfr', jvm: '17', producer: 'tarsier', pid: 1, cpus: 4, attached: false, start_ms: 0,
    duration_ns: 10e9, moment_ns: 1e7, moments: 1000, verdict: [], problems: [], damaged: false, engines: [],
    overhead: {app_threads_ns: 0, background_ns: 0}, profiles: [], default_profile: '', parts: Object.keys(parts),
    complete: 1, ...head,
  } as unknown as Head;
  return {head: whole, threads, part: (name) => Promise.resolve(parts[name] ?? null)};
}

export interface PieceSpec {
  readonly ns: number;
  readonly kind?: number; // 0 chain
  readonly thread?: number; // row
  readonly chain?: readonly string[]; // innermost first
  readonly method?: string;
}

export interface ContentionSpec {
  readonly begin: number;
  readonly lock?: string; // class@id
  readonly thread: number;
  readonly chain?: readonly string[]; // innermost first
  readonly method?: string; // else the innermost
  readonly group?: number;
  readonly afterWait?: boolean;
  readonly more?: number;
  readonly longest?: number;
  readonly pieces: readonly PieceSpec[];
}

class Interned {
  readonly list: string[] = [];
  private readonly ids = new Map<string, number>();
  id(text: string): number {
    let id = this.ids.get(text);
    if (id === undefined) {
      this.ids.set(text, (id = this.list.length));
      this.list.push(text);
    }
    return id;
  }
}

export class ChainWriter {
  readonly labels = new Interned();
  readonly parent = [0];
  readonly label = [0];
  private readonly known = new Map<string, number>();

  chain(frames: readonly string[] = []): number {
    let at = 0;
    for (const frame of [...frames].reverse()) {
      const label = this.labels.id(frame);
      const name = `${at} ${label}`;
      let next = this.known.get(name);
      if (next === undefined) {
        this.known.set(name, (next = this.parent.length));
        this.parent.push(at);
        this.label.push(label);
      }
      at = next;
    }
    return at;
  }

  columns(): Record<string, Column> {
    return {labels: {texts: this.labels.list}, chain_parent: this.parent, chain_label: this.label};
  }
}

export function encodeLocks(contentions: readonly ContentionSpec[]): Uint8Array {
  const chains = new ChainWriter();
  const classes = new Interned();
  const objects = new Interned();
  const lockClass: number[] = [];
  const lockOf = (name: string | undefined): number => {
    if (name === undefined) return 0;
    const known = objects.list.length;
    const id = objects.id(name);
    if (id === known) lockClass.push(classes.id(name.replace(/@.*/, '')));
    return id + 1;
  };
  const methodOf = (chain: readonly string[] | undefined, method: string | undefined): number => {
    const name = method ?? chain?.[0];
    return name === undefined ? 0 : chains.labels.id(name) + 1;
  };
  const pieces = contentions.flatMap((each) => each.pieces);
  const columns: Record<string, Column> = {
    begin: {differences: contentions.map((each) => each.begin)},
    length: contentions.map((each) => each.pieces.reduce((sum, {ns}) => sum + ns, 0)),
    lock: contentions.map((each) => lockOf(each.lock)),
    thread: contentions.map((each) => each.thread),
    chain: contentions.map((each) => chains.chain(each.chain)),
    method: contentions.map((each) => methodOf(each.chain, each.method)),
    group: contentions.map((each) => each.group ?? 0),
    after_wait: contentions.map((each) => (each.afterWait ? 1 : 0)),
    more: {sparse: contentions.map((each) => each.more ?? 0)},
    longest: {sparse: contentions.map((each) => each.longest ?? 0)},
    pieces: contentions.map((each) => each.pieces.length),
    piece_length: pieces.map((piece) => piece.ns),
    owner_kind: pieces.map((piece) => piece.kind ?? (piece.chain ? 0 : piece.thread !== undefined ? 1 : 3)),
    owner_thread: pieces.map((piece) => (piece.thread === undefined ? 0 : piece.thread + 1)),
    owner_chain: pieces.map((piece) => chains.chain(piece.chain)),
    owner_method: pieces.map((piece) => methodOf(piece.chain, piece.method)),
  };
  return encodeColumns({
    ...chains.columns(), classes: {texts: classes.list}, objects: {texts: objects.list}, lock_class: lockClass, ...columns,
  });
}

export const LOCK = ['java.util.concurrent.locks.LockSupport.park', 'java.util.concurrent.locks.ReentrantLock.lock'];

// Three threads and two locks, as in the thesis: those who look up by number are blocked, by one who looks up by name.
export const CONTENTIONS: readonly ContentionSpec[] = [
  {begin: 100, lock: 'app.Table@1', thread: 0, chain: ['app.byNumber', 'app.run'],
   pieces: [{ns: 40, thread: 2, chain: ['app.byName', 'app.run']}, {ns: 10, kind: 2},
            {ns: 30, thread: 1, chain: ['app.byNumber', 'app.run']}, {ns: 20, thread: 2, chain: ['app.byName', 'app.run']}]},
  {begin: 150, lock: 'app.Table@1', thread: 1, chain: ['app.byNumber', 'app.run'],
   pieces: [{ns: 200, thread: 2, chain: ['app.byName', 'app.run']}]},
  {begin: 400, lock: 'java.util.concurrent.locks.ReentrantLock@2', thread: 0, group: 1,
   chain: [...LOCK, 'app.byNumber', 'app.run'], method: 'app.byNumber', pieces: [{ns: 50, thread: 1}]},
  {begin: 500, lock: 'app.Table@3', thread: 1, chain: ['app.other', 'app.run'], afterWait: true, pieces: [{ns: 25}]},
  {begin: 600, thread: 2, group: 2, chain: ['app.wait', 'app.run'], pieces: [{ns: 1000}]},
];

export interface WaitSpec {
  readonly begin: number;
  readonly ns: number;
  readonly thread: number;
  readonly kind: string;
  readonly chain?: readonly string[]; // innermost first
  readonly waker?: number;
  readonly wakerChain?: readonly string[];
}

export function encodeWaits(waits: readonly WaitSpec[]): Uint8Array {
  const chains = new ChainWriter();
  const kinds = new Interned();
  const columns: Record<string, Column> = {
    begin: {differences: waits.map((each) => each.begin)}, length: waits.map((each) => each.ns),
    thread: waits.map((each) => each.thread), kind: waits.map((each) => kinds.id(each.kind)),
    chain: waits.map((each) => chains.chain(each.chain)), ongoing: {sparse: waits.map(() => 0)},
    woken_by: waits.map((each) => (each.waker === undefined ? 0 : 1)),
    waker: {sparse: waits.map((each) => (each.waker === undefined ? 0 : each.waker + 1))},
    waker_chain: waits.map((each) => chains.chain(each.wakerChain)), process: {sparse: waits.map(() => 0)},
  };
  return encodeColumns({...chains.columns(), kinds: {texts: kinds.list}, processes: {texts: []}, ...columns});
}
