// Builds a LooseTree node by node; finds a node again by its parent and key.
import {JAVA_TYPES} from './frame_types';
import type {LooseTree} from './tree';

const grown = <T extends Int32Array | Uint8Array | Float64Array | Float32Array>(old: T, length: number): T => {
  const bigger = new (old.constructor as new (length: number) => T)(length);
  bigger.set(old as never);
  return bigger;
};

export class LooseBuilder {
  count = 0;
  parent: Int32Array;
  key: Int32Array;
  type: Uint8Array;
  self: Float64Array;
  selfSamples: Float64Array;
  selfImprecise: Float64Array;
  selfBefore: Float64Array;
  private votes: Float32Array; // weight by Java type, to name a mixed node by its heaviest
  private slots: Int32Array; // open addressing; node + 1, 0 is free

  constructor(capacity = 1024) {
    this.parent = new Int32Array(capacity);
    this.key = new Int32Array(capacity);
    this.type = new Uint8Array(capacity);
    this.self = new Float64Array(capacity);
    this.selfSamples = new Float64Array(capacity);
    this.selfImprecise = new Float64Array(capacity);
    this.selfBefore = new Float64Array(capacity);
    this.votes = new Float32Array(capacity * JAVA_TYPES);
    this.slots = new Int32Array(4096);
  }

  // The child of `parent` with this key; made if it is not there.
  child(parent: number, key: number, type: number): number {
    const mask = this.slots.length - 1;
    let slot = this.hash(parent, key) & mask;
    for (;;) {
      const node = this.slots[slot]! - 1;
      if (node < 0) break;
      if (this.parent[node] === parent && this.key[node] === key) return node;
      slot = (slot + 1) & mask;
    }
    const node = this.append(parent, key, type);
    this.slots[slot] = node + 1;
    if (this.count * 2 > this.slots.length) this.rehash();
    return node;
  }

  // Weight for this node's frame being of this type.
  vote(node: number, type: number, weight: number): void {
    if (type < JAVA_TYPES) this.votes[node * JAVA_TYPES + type]! += weight;
  }

  finish(): LooseTree {
    for (let i = 0; i < this.count; i++) {
      if (this.type[i]! >= JAVA_TYPES) continue;
      const first = i * JAVA_TYPES;
      let best = this.type[i]!;
      for (let t = 0; t < JAVA_TYPES; t++) {
        if (this.votes[first + t]! > this.votes[first + best]!) best = t;
      }
      this.type[i] = best;
    }
    return this;
  }

  private append(parent: number, key: number, type: number): number {
    const node = this.count++;
    if (node === this.parent.length) {
      const length = node * 2;
      this.parent = grown(this.parent, length);
      this.key = grown(this.key, length);
      this.type = grown(this.type, length);
      this.self = grown(this.self, length);
      this.selfSamples = grown(this.selfSamples, length);
      this.selfImprecise = grown(this.selfImprecise, length);
      this.selfBefore = grown(this.selfBefore, length);
      this.votes = grown(this.votes, length * JAVA_TYPES);
    }
    this.parent[node] = parent;
    this.key[node] = key;
    this.type[node] = type;
    return node;
  }

  private hash(parent: number, key: number): number {
    const h = Math.imul(parent ^ 0x2545f491, 0x9e3779b1) ^ Math.imul(key, 0x85ebca6b);
    return Math.imul(h ^ (h >>> 15), 0xc2b2ae35) >>> 7;
  }

  private rehash(): void {
    this.slots = new Int32Array(this.slots.length * 4);
    const mask = this.slots.length - 1;
    for (let node = 0; node < this.count; node++) {
      let slot = this.hash(this.parent[node]!, this.key[node]!) & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = node + 1;
    }
  }
}
