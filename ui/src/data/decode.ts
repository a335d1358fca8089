// From a part `profile-NAME` (docs/page.md) to a profile.
import {frameTypeOf} from '../model/frame_types';
import type {Columns} from './columns';
import type {Moments, Profile, ProfileThread, SourceNodes} from './profile';
import type {Threads} from './recording';

const damaged = (): Error => new Error('the data of this page is damaged');

// All columns of nodes have one row for each; one that is not there is all 0.
function column(columns: Columns, name: string, count: number): Float64Array {
  const numbers = columns.numbers(name);
  if (numbers.length === count) return numbers;
  if (numbers.length !== 0) throw damaged();
  return new Float64Array(count);
}

function indexColumn(columns: Columns, name: string, limit: number, count: number): Int32Array {
  const indices = columns.indices(name, limit);
  if (indices.length !== count) throw damaged();
  return indices;
}

// Names of threads go behind those of frames: both are names of nodes.
function readThreads(columns: Columns, threads: Threads, names: string[]): ProfileThread[] {
  const rows = columns.indices('thread', threads.count);
  const sizes = column(columns, 'thread_nodes', rows.length);
  const known = new Map<string, number>();
  let first = 0;
  return Array.from(rows, (row, i) => {
    const text = threads.name[row]!;
    let name = known.get(text);
    if (name === undefined) {
      known.set(text, (name = names.length));
      names.push(text);
    }
    const end = first + sizes[i]!;
    const thread = {row, name, first, end};
    first = end;
    return thread;
  });
}

// Turns "how far up from the node before" into parents.
function parentsOf(up: Float64Array, threads: readonly ProfileThread[]): Int32Array {
  const parent = new Int32Array(up.length);
  const open: number[] = []; // the path to the node before
  for (const thread of threads) {
    open.length = 0;
    for (let i = thread.first; i < thread.end; i++) {
      if (up[i]! < 0 || up[i]! > open.length) throw damaged();
      open.length -= up[i]!;
      parent[i] = open.length > 0 ? open[open.length - 1]! : -1;
      open.push(i);
    }
  }
  return parent;
}

function readMoments(columns: Columns, nodes: number): Moments | null {
  const sizes = columns.numbers('moment_rows');
  if (sizes.length === 0) return null;
  const first = new Int32Array(sizes.length + 1);
  for (let i = 0; i < sizes.length; i++) first[i + 1] = first[i]! + sizes[i]!;
  const rows = first[sizes.length]!;
  return {
    count: sizes.length, first, node: indexColumn(columns, 'moment_node', nodes, rows),
    self: column(columns, 'moment_self', rows), samples: column(columns, 'moment_samples', rows),
  };
}

export function decodeProfile(columns: Columns, threadTable: Threads): Profile {
  const types = columns.texts('types').map(frameTypeOf);
  const frameNames = columns.texts('names');
  const names = frameNames.slice();
  const threads = readThreads(columns, threadTable, names);
  const up = columns.numbers('up');
  const count = up.length;
  if (count !== (threads.length > 0 ? threads[threads.length - 1]!.end : 0)) throw damaged();
  const parent = parentsOf(up, threads);
  const type = Uint8Array.from(indexColumn(columns, 'node_type', types.length, count), (t) => types[t]!);
  const before = columns.has('before') ? column(columns, 'before', count) : null;
  let self = column(columns, 'self', count);
  if (before !== null) self = self.map((after, i) => (after + before[i]!) / 2);
  const nodes: SourceNodes = {
    count, parent, type, self, before,
    name: indexColumn(columns, 'node_name', frameNames.length, count),
    line: Int32Array.from(column(columns, 'line', count)),
    samples: column(columns, 'samples', count),
    imprecise: column(columns, 'imprecise', count),
  };
  const allName = names.length;
  names.push('all', 'smaller');
  return {names, threads, nodes, moments: before === null ? readMoments(columns, count) : null, allName,
          restName: allName + 1};
}
