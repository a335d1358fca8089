// Call chains that share their outer part: each is a frame and the chain of its callers; chain 0 is empty.
import type {Columns} from '../data/columns';

export class Chains {
  readonly labels: readonly string[];
  readonly parent: Int32Array;
  readonly label: Int32Array;

  constructor(columns: Columns) {
    this.labels = columns.texts('labels');
    const count = columns.numbers('chain_parent').length;
    this.parent = columns.indices('chain_parent', Math.max(count, 1));
    const labels = columns.numbers('chain_label');
    if (labels.length !== count) throw new Error('the data of this page is damaged');
    this.label = Int32Array.from(labels);
    // Callers come first, so that walks outwards end.
    for (let i = 1; i < count; i++) {
      if (this.parent[i]! >= i || !(this.label[i]! < this.labels.length)) throw new Error('the data of this page is damaged');
    }
  }

  get count(): number {
    return this.parent.length;
  }

  // Innermost first.
  frames(chain: number): string[] {
    const frames: string[] = [];
    for (let at = chain; at > 0; at = this.parent[at]!) frames.push(this.labels[this.label[at]!]!);
    return frames;
  }

  // The chain from its innermost frame of that label on: without the insides of locking, which nobody wants to read.
  from(chain: number, label: number): number {
    for (let at = chain; at > 0; at = this.parent[at]!) if (this.label[at] === label) return at;
    return chain;
  }
}

// java.util.concurrent.locks.ReentrantLock.lock -> ReentrantLock.lock
export function shortLabel(name: string): string {
  if (!/^[\p{L}\p{N}_$]/u.test(name) || /\.\d+$/.test(name)) return name; // do_work.isra.0, libc.so.6: no method
  const end = name.search(/[(/<]/);
  const path = end > 0 ? name.slice(0, end) : name;
  const parts = path.split('.');
  return parts.length <= 2 ? name : parts.slice(-2).join('.') + (end > 0 ? name.slice(end) : '');
}

// What is no name of a class stays as it is.
export const shortClass = (name: string): string => (/^[\p{L}\p{N}_.$@/+[\]-]+$/u.test(name) ? name.slice(name.lastIndexOf('.') + 1) || name : name);
