// Where a zoom is, as text for the page's address: four characters for each frame of the path, made of its name, so
// that a link holds when the recording is read anew and names have other numbers.
import type {Profile} from '../data/profile';
import {nameOfKey} from '../model/frame_types';
import {pathOf, type Tree} from '../model/tree';

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const MOST_FRAMES = 400; // addresses must not grow without end: a longer path is known to this page only
const WIDTH = 4;

function hashOf(name: string, family: number): string {
  let hash = 0x811c9dc5 ^ family;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash ^= hash >>> 13;
  return [18, 12, 6, 0].map((shift) => DIGITS[(hash >>> shift) & 63]!).join('');
}

const hashOfKey = (profile: Profile, key: number): string => hashOf(profile.names[nameOfKey(key)]!, key & 15);

const longPaths = new Map<string, readonly number[]>();

export function zoomText(profile: Profile, tree: Tree, node: number): string {
  const path = pathOf(tree, node);
  const text = path.slice(0, MOST_FRAMES).map((key) => hashOfKey(profile, key)).join('');
  if (path.length <= MOST_FRAMES) return text;
  const long = `${text}~${path.length}.${node}`;
  longPaths.set(long, path);
  return long;
}

// The keys of the path. They are looked up among all frames, not along the path: a reversed tree is built only as far as
// it is seen, along the very path that is asked for here.
export function keysOfZoom(profile: Profile, calls: Tree, text: string): readonly number[] {
  const known = longPaths.get(text);
  if (known !== undefined) return known;
  if (text === '') return [];
  const wanted = new Map<string, number>();
  for (let at = 0; at + WIDTH <= text.length && text[at] !== '~'; at += WIDTH) wanted.set(text.slice(at, at + WIDTH), -1);
  const seen = new Set<number>();
  for (let i = 1; i < calls.count; i++) {
    const key = calls.key[i]!;
    if (seen.has(key)) continue;
    seen.add(key);
    const hash = hashOfKey(profile, key);
    if (wanted.has(hash)) wanted.set(hash, key);
  }
  const path: number[] = [];
  for (let at = 0; at + WIDTH <= text.length && text[at] !== '~'; at += WIDTH) {
    const key = wanted.get(text.slice(at, at + WIDTH))!;
    if (key < 0) break;
    path.push(key);
  }
  return path;
}
