// Which threads the page shows: "t12" a row of the threads, "p.." a pool, "g.." a group of Java's, "k.." a kind (state.ts).
import type {Profile} from '../data/profile';
import {THREAD_KINDS, type Threads} from '../data/recording';
import {clipped} from '../data/visible_text';
import {count} from '../model/format';

const groups = new WeakMap<Threads, readonly string[]>();

// By row: the group that Java has it in; empty: not known.
export function groupsOf(threads: Threads): readonly string[] {
  let known = groups.get(threads);
  if (known === undefined) {
    const names = threads.columns.texts('names');
    const rows = threads.columns.has('group') ? threads.columns.indices('group', names.length) : new Int32Array(0);
    known = Array.from({length: threads.count}, (_, row) => (rows[row] === undefined || rows[row] === 0 ? '' : names[rows[row]!]!));
    groups.set(threads, known);
  }
  return known;
}

// Does this row belong to the choice? Null: all do.
export function threadTest(threads: Threads, choice: string): ((row: number) => boolean) | null {
  const rest = choice.slice(1);
  switch (choice[0]) {
    case 't': return (row) => String(row) === rest;
    case 'p': return (row) => threads.pool[row] === rest;
    case 'g': return (row) => groupsOf(threads)[row] === rest;
    case 'k': return (row) => THREAD_KINDS[threads.kind[row]!] === rest;
    default: return null;
  }
}

// The same by index of a profile's threads.
export function threadMask(profile: Profile, threads: Threads, choice: string): Uint8Array | null {
  const test = threadTest(threads, choice);
  return test === null ? null : Uint8Array.from(profile.threads, ({row}) => (test(row) ? 1 : 0));
}

export function threadLabel(threads: Threads, row: number): string {
  const name = clipped(threads.name[row]!, 60) || 'a thread without a name';
  if (threads.merged[row]! > 1) return `${name} \u00d7 ${count(threads.merged[row]!)}`;
  return threads.osId[row]! > 0 && threads.virtual[row] === 0 ? `${name} (${threads.osId[row]!})` : name;
}

export function choiceLabel(threads: Threads, choice: string): string {
  const rest = choice.slice(1);
  if (choice[0] === 't') return Number(rest) < threads.count ? threadLabel(threads, Number(rest)) : 'no such thread';
  return choice[0] === 'p' ? `pool ${clipped(rest, 60)}` : choice[0] === 'g' ? `group ${clipped(rest, 60)}` : choice[0] === 'k' ? `kind ${rest}` : 'all threads';
}
