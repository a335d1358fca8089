// Writes recordings for the tests, in the format of src/export/flame_data.h; written apart from the exporter, so that
// the two check each other.
import type {Head} from '../src/data/head';

export interface StackSpec {
  readonly thread: string;
  readonly stack: readonly string[]; // outermost first: "name", "name|type" or "name|type|line"
  readonly ns: number;
  readonly samples?: number;
  readonly imprecise?: number;
  readonly before?: number; // ns; if any stack has it, the recording is a comparison
}

interface Node {
  readonly label: string;
  readonly children: Map<string, Node>;
  ns: number;
  samples: number;
  imprecise: number;
  before: number;
}

export const TYPES = ['java', 'interpreted', 'c1', 'c2', 'inlined', 'native', 'stub', 'vm', 'kernel', 'class', 'marker'];

class Bytes {
  private readonly parts: number[] = [];
  number(value: number): void {
    for (; value >= 128; value = Math.floor(value / 128)) this.parts.push((value % 128) | 128);
    this.parts.push(value);
  }
  raw(bytes: Uint8Array): void {
    for (const byte of bytes) this.parts.push(byte);
  }
  table(texts: readonly string[]): void {
    const encoded = texts.map((text) => new TextEncoder().encode(text));
    this.number(encoded.length);
    for (const bytes of encoded) this.number(bytes.length);
    for (const bytes of encoded) this.raw(bytes);
  }
  take(): Uint8Array {
    return Uint8Array.from(this.parts);
  }
}

const newNode = (label: string): Node => ({label, children: new Map(), ns: 0, samples: 0, imprecise: 0, before: 0});

function treesOf(stacks: readonly StackSpec[]): Map<string, Node> {
  const threads = new Map<string, Node>();
  for (const {thread, stack, ns, samples = 1, imprecise = 0, before = 0} of stacks) {
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

export function encodeFlame(stacks: readonly StackSpec[], osIds: Readonly<Record<string, number>> = {},
                            nameOrder: readonly string[] = [], kinds: Readonly<Record<string, number>> = {}): Uint8Array {
  const names = [...nameOrder];
  const ids = new Map(names.map((name, id) => [name, id]));
  const intern = (name: string): number => {
    let id = ids.get(name);
    if (id === undefined) {
      ids.set(name, (id = names.length));
      names.push(name);
    }
    return id;
  };
  const part = (label: string, at: number): string => {
    // From the right: names may hold the separator.
    const fields = /^(.*?)(?:\|([a-z0-9]+))?(?:\|(\d+))?$/s.exec(label)!;
    return fields[at] ?? '';
  };
  const threads = [...treesOf(stacks)].map(([name, root]) => ({name, nodes: depthFirst(root)}));
  const nodes = threads.flatMap((thread) => thread.nodes);
  for (const {node} of nodes) intern(part(node.label, 1));
  for (const {name} of threads) intern(name);

  const out = new Bytes();
  out.raw(new TextEncoder().encode('tarsier-flame-1\n'));
  out.table(TYPES);
  out.table(names);
  out.number(threads.length);
  for (const {name, nodes: own} of threads) {
    for (const value of [intern(name), kinds[name] ?? 0, osIds[name] ?? 0, 0, 0, 1, own.length]) out.number(value);
  }
  out.number(nodes.length);
  for (const {nodes: own} of threads) own.forEach(({depth}, i) => out.number(i === 0 ? 0 : own[i - 1]!.depth + 1 - depth));
  for (const {node} of nodes) out.number(intern(part(node.label, 1)));
  for (const {node} of nodes) out.number(Math.max(TYPES.indexOf(part(node.label, 2)), 0));
  for (const {node} of nodes) out.number(Number(part(node.label, 3)));
  for (const {node} of nodes) out.number(node.ns);
  for (const {node} of nodes) out.number(node.samples);
  const sparse = (column: 'imprecise' | 'before'): void => {
    out.number(nodes.filter(({node}) => node[column] > 0).length);
    let last = -1;
    nodes.forEach(({node}, i) => {
      if (node[column] === 0) return;
      out.number(i - last);
      out.number(node[column]);
      last = i;
    });
  };
  sparse('imprecise');
  if (stacks.some((stack) => stack.before !== undefined)) sparse('before');
  return out.take();
}

export const HEAD: Head = {
  title: 'demo', file: 'demo.jfr', profile: 'cpu', unit: 'ns', jvm: '17.0.15+6-Debian', producer: 'tarsier 0.1.0', pid: 4242, cpus: 8, attached: true,
  start_ms: 1_700_000_000_000, duration_ns: 30e9,
  engines: [{name: 'cpu', mechanism: 'agct, perf', why: 'perf events are permitted', interval_ns: 1e6, interval_bytes: 0, taken: 28_400,
             written: 28_391, failed: 61, dropped: {'ring full': 9}}],
  overhead: {app_threads_ns: 41e6, background_ns: 210e6}, problems: [], damaged: false,
  samples: {count: 28_391, failed: 61, imprecise: 120, truncated: 3}, unsampled_ns: {gc: 2.1e9, jit: 0.9e9},
  verdict: [],
};

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

// What src/export/html.cpp does.
export function fillPage(template: string, head: Head, flame: Uint8Array): string {
  const block = (id: string, bytes: Uint8Array): string =>
    `<script type="application/octet-stream" id="${id}">${base64(bytes)}</script>\n`;
  const data = block('tarsier-head', new TextEncoder().encode(JSON.stringify(head))) + block('tarsier-flame', flame);
  return template.replace('<!--tarsier:data-->', () => data);
}
