// The part `threads` (docs/page.md).
import {Columns} from './columns';
import {THREAD_KINDS, type Threads} from './recording';

const damaged = (): Error => new Error('the data of this page is damaged');

export function decodeThreads(columns: Columns): Threads {
  const names = columns.texts('names');
  const name = columns.indices('name', names.length);
  const count = name.length;
  const numbers = (column: string): Float64Array => {
    const found = columns.numbers(column);
    if (found.length !== 0 && found.length !== count) throw damaged();
    return found.length === count ? found : new Float64Array(count);
  };
  const pool = columns.has('pool') ? columns.indices('pool', names.length) : new Int32Array(0);
  if (pool.length !== 0 && pool.length !== count) throw damaged();
  return {
    count, columns,
    name: Array.from(name, (n) => names[n]!),
    pool: Array.from({length: count}, (_, i) => (pool.length > 0 && pool[i]! > 0 ? names[pool[i]!]! : '')),
    kind: Uint8Array.from(numbers('kind'), (kind) => (kind < THREAD_KINDS.length ? kind : THREAD_KINDS.indexOf('other'))),
    osId: numbers('os_id'), javaId: numbers('java_id'), virtual: Uint8Array.from(numbers('virtual')),
    merged: numbers('merged'),
  };
}
