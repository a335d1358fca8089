// Reads what src/export/flame_data.cpp wrote; the layout is described in flame_data.h.
import {frameTypeOf} from '../model/frame_types';
import type {Profile, SourceNodes, Thread} from './profile';
import {visibleText} from './visible_text';

const MAGIC = 'tarsier-flame-1\n';

export function bytesOfBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

class Reader {
  private at = 0;
  private readonly text = new TextDecoder('utf-8');

  constructor(private readonly bytes: Uint8Array) {}

  number(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      if (this.at >= this.bytes.length) throw new Error('the data in this page is cut off');
      const byte = this.bytes[this.at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
      if (scale > 2 ** 56) throw new Error('the data in this page is damaged');
    }
  }

  // A count of things that take at least one byte each: a larger one is damage, not a reason to allocate.
  count(): number {
    const value = this.number();
    if (value > this.bytes.length - this.at) throw new Error('the data in this page is damaged');
    return value;
  }

  column<T extends Uint8Array | Int32Array | Float64Array>(into: T, below = Infinity): T {
    for (let i = 0; i < into.length; i++) {
      const value = this.number();
      if (value >= below) throw new Error('the data in this page is damaged');
      into[i] = value;
    }
    return into;
  }

  // A column of which only some values are there, each after the distance to the one before.
  sparse(into: Float64Array): Float64Array {
    let at = -1;
    for (let left = this.count(); left > 0; left--) {
      at += this.number();
      if (at >= into.length) throw new Error('the data in this page is damaged');
      into[at] = this.number();
    }
    return into;
  }

  atEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  string(length: number): string {
    if (length > this.bytes.length - this.at) throw new Error('the data in this page is cut off');
    return this.text.decode(this.bytes.subarray(this.at, (this.at += length)));
  }

  table(): string[] {
    const lengths = this.column(new Float64Array(this.count()));
    return Array.from(lengths, (length) => this.string(length));
  }
}

function readThreads(reader: Reader, names: number): Thread[] {
  const threads: Thread[] = [];
  let first = 0;
  for (let left = reader.count(); left > 0; left--) {
    const [name, kind, osId, javaId, virtual, merged, nodes] = reader.column(new Float64Array(7)) as unknown as number[];
    if (name! >= names) throw new Error('the data in this page is damaged');
    const end = first + nodes!;
    threads.push({name: name!, kind: kind!, osId: osId!, javaId: javaId!, virtual: virtual === 1, merged: merged!,
                  first, end});
    first = end;
  }
  return threads;
}

// Turns "how far up from the node before" into parents.
function parentsOf(up: Int32Array, threads: readonly Thread[]): Int32Array {
  const parent = new Int32Array(up.length);
  const open: number[] = []; // the path to the node before
  for (const thread of threads) {
    open.length = 0;
    for (let i = thread.first; i < thread.end; i++) {
      if (up[i]! > open.length) throw new Error('the data in this page is damaged');
      open.length -= up[i]!;
      parent[i] = open.length > 0 ? open[open.length - 1]! : -1;
      open.push(i);
    }
  }
  return parent;
}

export function decodeProfile(bytes: Uint8Array): Profile {
  const reader = new Reader(bytes);
  if (reader.string(Math.min(MAGIC.length, bytes.length)) !== MAGIC) {
    throw new Error('the data in this page is of a version that the page does not know');
  }
  const types = reader.table().map(frameTypeOf);
  const names = reader.table().map(visibleText);
  const threads = readThreads(reader, names.length);

  const count = reader.count();
  if (count !== (threads.length > 0 ? threads[threads.length - 1]!.end : 0)) {
    throw new Error('the data in this page is damaged');
  }
  const parent = parentsOf(reader.column(new Int32Array(count)), threads);
  const name = reader.column(new Int32Array(count), names.length);
  const type = reader.column(new Uint8Array(count), types.length);
  for (let i = 0; i < count; i++) type[i] = types[type[i]!]!;
  const nodes: SourceNodes = {
    count, parent, name, type,
    line: reader.column(new Int32Array(count)),
    self: reader.column(new Float64Array(count)),
    samples: reader.column(new Float64Array(count)),
    imprecise: reader.sparse(new Float64Array(count)),
    before: reader.atEnd() ? null : reader.sparse(new Float64Array(count)),
  };
  const {self, before} = nodes;
  if (before !== null) for (let i = 0; i < count; i++) self[i] = (self[i]! + before[i]!) / 2;
  return {names: [...names, 'all', 'smaller'], threads, nodes, allName: names.length, restName: names.length + 1};
}
