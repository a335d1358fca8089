// Which contentions a search finds: by the lock, by a thread, or by a method on the chain of the one who was blocked or
// of one who held the lock.
import type {Threads} from '../data/recording';
import {compileQuery, matchNames} from '../model/search';
import type {Contentions} from './contentions';

export type Found = {readonly rows: Uint8Array} | {readonly error: string};

export function searchContentions(data: Contentions, threads: Threads, query: string, isRegex: boolean): Found | null {
  if (query === '') return null;
  const compiled = compileQuery(query, isRegex);
  if ('error' in compiled) return {error: compiled.error};
  const labels = matchNames(data.chains.labels, compiled.test);
  const objects = matchNames(data.objects, compiled.test);
  const names = matchNames(threads.name, compiled.test);
  const chains = new Uint8Array(data.chains.count);
  for (let i = 1; i < chains.length; i++) chains[i] = labels[data.chains.label[i]!]! | chains[data.chains.parent[i]!]!;
  const owners = data.owners.chain.map((chain, i) => chains[chain]! | (data.owners.thread[i]! > 0 ? names[data.owners.thread[i]! - 1]! : 0));
  const rows = new Uint8Array(data.count);
  for (let i = 0; i < rows.length; i++) {
    let found = chains[data.chain[i]!]! | names[data.thread[i]!]! | (data.lock[i]! > 0 ? objects[data.lock[i]! - 1]! : 0);
    for (let p = data.firstPiece[i]!; found === 0 && p < data.firstPiece[i + 1]!; p++) {
      found = owners[data.owners.id[p]!]!;
    }
    rows[i] = found;
  }
  return {rows};
}
