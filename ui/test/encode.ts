// Writes recordings for the tests, as docs/page.md describes them; written apart from the exporter, so that the two
// check each other.
import {gzipSync} from 'node:zlib';
import {Columns} from '../src/data/columns';
import {decodeProfile} from '../src/data/decode';
import type {Head} from '../src/data/head';
import type {Profile} from '../src/data/profile';
import type {Threads} from '../src/data/recording';
import {decodeThreads} from '../src/data/threads';

export interface StackSpec {
  readonly thread: string;
  readonly stack: readonly string[]; // outermost first: "name", "name|type" or "name|type|line"
  readonly ns: number;
  readonly samples?: number;
  readonly imprecise?: number;
  readonly before?: number; // ns; if any stack has it, the recording is a comparison
  readonly moment?: number; // if any stack has it, the profile knows times
}

interface Node {
  readonly label: string;
  readonly children: Map<string, Node>;
  readonly moments: Map<number, {ns: number; samples: number}>;
  ns: number;
  samples: number;
  imprecise: number;
  before: number;
}

export const TYPES = ['java', 'interpreted', 'c1', 'c2', 'inlined', 'native', 'stub', 'vm', 'kernel', 'class', 'marker'];

class Bytes {
  private buffer = new Uint8Array(1 << 12);
  private used = 0;
  private room(more: number): void {
    if (this.used + more <= this.buffer.length) return;
    const bigger = new Uint8Array(Math.max(this.buffer.length * 2, this.used + more));
    bigger.set(this.buffer.subarray(0, this.used));
    this.buffer = bigger;
  }
  number(value: number): void {
    this.room(10);
    for (; value >= 128; value = Math.floor(value / 128)) this.buffer[this.used++] = (value % 128) | 128;
    this.buffer[this.used++] = value;
  }
  raw(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.buffer.set(bytes, this.used);
    this.used += bytes.length;
  }
  take(): Uint8Array {
    return this.buffer.slice(0, this.used);
  }
}

// A part: columns by name.
export class Part {
  private readonly columns: {name: string; kind: number; rows: number; bytes: Uint8Array}[] = [];

  numbers(name: string, values: ArrayLike<number>): this {
    const out = new Bytes();
    for (let i = 0; i < values.length; i++) out.number(values[i]!);
    return this.add(name, 0, values.length, out);
  }
  differences(name: string, values: ArrayLike<number>): this {
    const out = new Bytes();
    for (let i = 0; i < values.length; i++) {
      const step = values[i]! - (i > 0 ? values[i - 1]! : 0);
      out.number(step >= 0 ? step * 2 : -step * 2 - 1);
    }
    return this.add(name, 1, values.length, out);
  }
  texts(name: string, texts: readonly string[]): this {
    const out = new Bytes();
    const encoded = texts.map((text) => new TextEncoder().encode(text));
    for (const bytes of encoded) out.number(bytes.length);
    for (const bytes of encoded) out.raw(bytes);
    return this.add(name, 2, texts.length, out);
  }
  sparse(name: string, values: ArrayLike<number>): this {
    const out = new Bytes();
    let last = -1;
    for (let i = 0; i < values.length; i++) {
      if (values[i] === 0) continue;
      out.number(i - last);
      out.number(values[i]!);
      last = i;
    }
    return this.add(name, 3, values.length, out);
  }
  take(): Uint8Array {
    const out = new Bytes();
    const text = (value: string): Uint8Array => new TextEncoder().encode(value);
    out.raw(text('tarsier-columns-1\n'));
    out.number(this.columns.length);
    for (const {name, kind, rows, bytes} of this.columns) {
      out.number(text(name).length);
      out.raw(text(name));
      for (const value of [kind, rows, bytes.length]) out.number(value);
      out.raw(bytes);
    }
    return out.take();
  }
  private add(name: string, kind: number, rows: number, out: Bytes): this {
    this.columns.push({name, kind, rows, bytes: out.take()});
    return this;
  }
}

const newNode = (label: string): Node => ({label, children: new Map(), moments: new Map(), ns: 0, samples: 0, imprecise: 0, before: 0});

function treesOf(stacks: readonly StackSpec[]): Map<string, Node> {
  const threads = new Map<string, Node>();
  for (const {thread, stack, ns, samples = 1, imprecise = 0, before = 0, moment} of stacks) {
    let node = threads.get(thread) ?? newNode(thread);
    threads.set(thread, node);
    for (const label of stack) {
      const child = node.children.get(label) ?? newNode(label);
      node.children.set(label, child);
      node = child;
    }
    node.ns += ns;
    node.samples += samples;
    node.imprecise += imprecise;
    node.before += before;
    if (moment === undefined) continue;
    const known = node.moments.get(moment) ?? {ns: 0, samples: 0};
    node.moments.set(moment, {ns: known.ns + ns, samples: known.samples + samples});
  }
  return threads;
}

interface Listed {
  readonly node: Node;
  readonly depth: number;
}

function depthFirst(root: Node): Listed[] {
  const listed: Listed[] = [];
  const pending: Listed[] = [...root.children.values()].reverse().map((node) => ({node, depth: 0}));
  for (let next = pending.pop(); next; next = pending.pop()) {
    listed.push(next);
    for (const child of [...next.node.children.values()].reverse()) pending.push({node: child, depth: next.depth + 1});
  }
  return listed;
}

export interface ThreadSpecs {
  readonly osIds?: Readonly<Record<string, number>>;
  readonly kinds?: Readonly<Record<string, number>>;
  readonly pools?: Readonly<Record<string, string>>;
  readonly groups?: Readonly<Record<string, string>>;
}

class Interned {
  readonly list: string[] = [];
  private readonly ids = new Map<string, number>();
  of(text: string): number {
    let id = this.ids.get(text);
    if (id === undefined) {
      this.ids.set(text, (id = this.list.length));
      this.list.push(text);
    }
    return id;
  }
}

export function encodeThreads(threads: readonly string[], specs: ThreadSpecs = {}): Part {
  const texts = new Interned();
  texts.of('');
  const each = (value: (name: string) => number): number[] => threads.map(value);
  const name = each((thread) => texts.of(thread));
  const pool = each((thread) => texts.of(specs.pools?.[thread] ?? ''));
  const group = each((thread) => texts.of(specs.groups?.[thread] ?? ''));
  return new Part().texts('names', texts.list).numbers('name', name).numbers('pool', pool).sparse('group', group)
    .numbers('kind', each((thread) => specs.kinds?.[thread] ?? (thread === '[not sampled]' ? 5 : 0)))
    .numbers('os_id', each((thread) => specs.osIds?.[thread] ?? 0)).numbers('java_id', each(() => 0))
    .numbers('virtual', each(() => 0)).numbers('merged', each(() => 1));
}

export function encodeProfile(stacks: readonly StackSpec[], rowOf: (thread: string) => number, moments = 0): Part {
  const names = new Interned();
  const part = (label: string, at: number): string => {
    // From the right: names may hold the separator.
    const fields = /^(.*?)(?:\|([a-z0-9]+))?(?:\|(\d+))?$/s.exec(label)!;
    return fields[at] ?? '';
  };
  const threads = [...treesOf(stacks)].map(([name, root]) => ({name, nodes: depthFirst(root)}));
  const nodes = threads.flatMap((thread) => thread.nodes);
  const name = nodes.map(({node}) => names.of(part(node.label, 1)));
  const out = new Part().texts('types', TYPES).texts('names', names.list)
    .numbers('thread', threads.map((thread) => rowOf(thread.name)))
    .numbers('thread_nodes', threads.map((thread) => thread.nodes.length))
    .numbers('up', threads.flatMap(({nodes: own}) => own.map(({depth}, i) => (i === 0 ? 0 : own[i - 1]!.depth + 1 - depth))))
    .numbers('node_name', name)
    .numbers('node_type', nodes.map(({node}) => Math.max(TYPES.indexOf(part(node.label, 2)), 0)))
    .numbers('line', nodes.map(({node}) => Number(part(node.label, 3))))
    .numbers('self', nodes.map(({node}) => node.ns)).numbers('samples', nodes.map(({node}) => node.samples))
    .sparse('imprecise', nodes.map(({node}) => node.imprecise));
  if (stacks.some((stack) => stack.before !== undefined)) out.sparse('before', nodes.map(({node}) => node.before));
  if (moments > 0) {
    const rows = nodes.flatMap(({node}, i) => [...node.moments].map(([moment, got]) => ({moment, node: i, ...got})));
    rows.sort((a, b) => a.moment - b.moment || a.node - b.node);
    const sizes = new Array<number>(moments).fill(0);
    for (const row of rows) sizes[row.moment]!++;
    out.numbers('moment_rows', sizes).numbers('moment_node', rows.map((row) => row.node))
      .numbers('moment_self', rows.map((row) => row.ns)).numbers('moment_samples', rows.map((row) => row.samples));
  }
  return out;
}

const threadsOf = (stacks: readonly StackSpec[]): string[] => [...new Set(stacks.map(({thread}) => thread))];

export interface Decoded {
  readonly profile: Profile;
  readonly threads: Threads;
}

// What the page has of these stacks.
export function decoded(stacks: readonly StackSpec[], specs: ThreadSpecs = {}): Decoded {
  const list = threadsOf(stacks);
  const moments = Math.max(0, ...stacks.map(({moment = -1}) => moment + 1));
  const threads = decodeThreads(new Columns(encodeThreads(list, specs).take()));
  return {threads, profile: decodeProfile(new Columns(encodeProfile(stacks, (thread) => list.indexOf(thread), moments).take()), threads)};
}
export const profileOf = (stacks: readonly StackSpec[]): Profile => decoded(stacks).profile;

const PROFILES: Readonly<Record<string, {unit: string; what: string; events?: string; census?: boolean}>> = {
  cpu: {unit: 'ns', what: 'CPU time'}, wall: {unit: 'ns', what: 'wall clock time'}, alloc: {unit: 'bytes', what: 'allocation'},
  waits: {unit: 'ns', what: 'waiting', events: 'waits', census: true},
  locks: {unit: 'ns', what: 'time blocked by locks', events: 'contentions', census: true},
  owners: {unit: 'ns', what: 'time others were blocked', events: 'delays', census: true},
};

export const HEAD: Head = {
  title: 'demo', file: 'demo.jfr', jvm: '17.0.15+6-Debian', producer: 'tarsier 0.1.0', pid: 4242, cpus: 8, attached: true,
  start_ms: 1_700_000_000_000, duration_ns: 30e9, moment_ns: 100e6, moments: 300,
  engines: [{name: 'cpu', mechanism: 'agct, perf', why: 'perf events are permitted', interval_ns: 1e6, interval_bytes: 0, taken: 28_400,
             written: 28_391, failed: 61, dropped: {'ring full': 9}}],
  overhead: {app_threads_ns: 41e6, background_ns: 210e6}, problems: [], damaged: false,
  verdict: [], profiles: [], default_profile: '', parts: [], complete: 1,
};

export type Parts = Readonly<Record<string, Uint8Array>>;

// The parts of a recording with these profiles.
export function encodeRecording(head: Head, profiles: Readonly<Record<string, readonly StackSpec[]>>,
                                specs: ThreadSpecs = {}): Parts {
  const list = threadsOf(Object.values(profiles).flat());
  const rows = new Map(list.map((thread, row) => [thread, row]));
  const parts: Record<string, Uint8Array> = {threads: encodeThreads(list, specs).take()};
  const heads = Object.entries(profiles).filter(([, stacks]) => stacks.length > 0).map(([name, stacks]) => {
    const hasTimes = stacks.some(({moment}) => moment !== undefined);
    parts[`profile-${name}`] = encodeProfile(stacks, (thread) => rows.get(thread)!, hasTimes ? head.moments : 0).take();
    let count = 0;
    for (const {samples = 1} of stacks) count += samples;
    return {name, ...PROFILES[name]!, samples: {count, failed: 61, imprecise: 120, truncated: 3}, unsampled_ns: {gc: 2.1e9, jit: 0.9e9}};
  });
  const full = {...head, profiles: heads, default_profile: heads[0]?.name ?? '', parts: Object.keys(parts)};
  return {...parts, head: new TextEncoder().encode(JSON.stringify(full))};
}

// What src/export/html.cpp does.
export function fillPage(template: string, parts: Parts): string {
  const data = Object.entries(parts).map(([name, bytes]) =>
    `<script type="application/octet-stream" id="tarsier-part-${name}">${gzipSync(bytes).toString('base64')}</script>\n`).join('');
  return template.replace('<!--tarsier:data-->', () => data);
}
