// Which threads the page is about (PageState.thread): empty all, "t12" one, "p.." a pool, "k.." a kind.
import {THREAD_KINDS, type Threads} from '../data/recording';

// Null: all of them.
export function chosenThreads(threads: Threads, thread: string): Uint8Array | null {
  if (thread === '') return null;
  const chosen = new Uint8Array(threads.count);
  const rest = thread.slice(1);
  for (let i = 0; i < threads.count; i++) {
    const is = thread[0] === 't' ? String(i) === rest
      : thread[0] === 'p' ? threads.pool[i] === rest
      : thread[0] === 'k' && THREAD_KINDS[threads.kind[i]!] === rest;
    if (is) chosen[i] = 1;
  }
  return chosen;
}
