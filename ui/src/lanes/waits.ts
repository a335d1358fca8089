// Waits of threads (docs/page.md, part waits): what they waited for, where, and who woke them up.
import {Chains} from '../charts/chains';
import {oncePer} from '../charts/parts';
import type {Columns} from '../data/columns';
import type {Recording} from '../data/recording';
import {isLock, type Contentions} from '../locks/contentions';

export const enum WokenBy {Unknown = 0, Thread = 1, Jvm = 2, Process = 3, Interrupt = 4, Ongoing = 5}

export interface Waits {
  readonly count: number;
  readonly chains: Chains;
  readonly kinds: readonly string[];
  readonly processes: readonly string[];
  readonly begin: Float64Array;
  readonly length: Float64Array;
  readonly span: Float64Array; // when that was: its length, unless it stands for several
  readonly thread: Int32Array;
  readonly kind: Int32Array;
  readonly chain: Int32Array;
  readonly ongoing: Uint8Array;
  readonly wokenBy: Uint8Array;
  readonly waker: Int32Array; // 1 + row in threads
  readonly wakerChain: Int32Array;
  readonly process: Int32Array; // 1 + row in processes
}

function decode(columns: Columns, recording: Recording): Waits {
  const chains = new Chains(columns);
  const kinds = columns.texts('kinds');
  const processes = columns.texts('processes');
  const begin = columns.numbers('begin');
  const count = begin.length;
  const threads = Math.max(recording.threads.count, 1);
  const of = (name: string, limit: number): Int32Array => {
    const column = columns.indices(name, limit);
    if (column.length === count) return column;
    if (column.length > 0) throw new Error('the data of this page is damaged');
    return new Int32Array(count);
  };
  const length = columns.numbers('length');
  if (length.length !== count) throw new Error('the data of this page is damaged');
  return {
    count, chains, kinds, processes, begin, length, span: length,
    thread: of('thread', threads), kind: of('kind', Math.max(kinds.length, 1)), chain: of('chain', Math.max(chains.count, 1)),
    ongoing: Uint8Array.from(of('ongoing', 2)), wokenBy: Uint8Array.from(of('woken_by', 6)),
    waker: of('waker', threads + 1), wakerChain: of('waker_chain', Math.max(chains.count, 1)),
    process: of('process', processes.length + 1),
  };
}

export const waitsOf = oncePer(decode);

// Without records of waits, what threads were parked for tells some of them: conditions, and what is no lock.
export function parksAsWaits(contentions: Contentions): Waits | null {
  const rows: number[] = [];
  for (let i = 0; i < contentions.count; i++) if (!isLock(contentions.group[i]!)) rows.push(i);
  if (rows.length === 0) return null;
  const of = (values: Float64Array): Float64Array => Float64Array.from(rows, (row) => values[row]!);
  const indices = (values: Int32Array): Int32Array => Int32Array.from(rows, (row) => values[row]!);
  const none = new Int32Array(rows.length);
  return {
    count: rows.length, chains: contentions.chains, kinds: ['waiting', 'parked'], processes: [], begin: of(contentions.begin),
    length: of(contentions.length), span: of(contentions.span), thread: indices(contentions.thread),
    kind: Int32Array.from(rows, (row) => contentions.group[row]! - 2), chain: indices(contentions.chain), ongoing: new Uint8Array(rows.length),
    wokenBy: new Uint8Array(rows.length), waker: none, wakerChain: none, process: none,
  };
}

// Who ended the wait, in words.
export function wakerWords(waits: Waits, row: number, nameOf: (thread: number) => string): string {
  switch (waits.wokenBy[row]) {
    case WokenBy.Thread: return waits.waker[row]! > 0 ? nameOf(waits.waker[row]! - 1) : 'another thread';
    case WokenBy.Jvm: return waits.waker[row]! > 0 ? `the JVM (${nameOf(waits.waker[row]! - 1)})` : 'the JVM';
    case WokenBy.Process: return waits.process[row]! > 0 ? `the process ${waits.processes[waits.process[row]! - 1]!}` : 'another process';
    case WokenBy.Interrupt: return 'an interrupt (a timer or a device)';
    case WokenBy.Ongoing: return 'nobody yet';
    default: return waits.ongoing[row] === 1 ? 'nobody yet' : 'not recorded';
  }
}
