import assert from 'node:assert/strict';
import test from 'node:test';
import {Columns} from '../src/data/columns';
import {decodeProfile} from '../src/data/decode';
import {decodeHead} from '../src/data/head';
import {decodeThreads} from '../src/data/threads';
import {decoded, encodeProfile, encodeThreads, Part, profileOf, type StackSpec} from './encode';

const STACKS: readonly StackSpec[] = [
  {thread: 'main', stack: ['app.Main.main|interpreted|10', 'app.Main.hot|c2|20'], ns: 2e6, samples: 2, imprecise: 1, moment: 0},
  {thread: 'main', stack: ['app.Main.main|interpreted|10', 'app.Main.hot|c2|20', 'app.Main.inner|inlined|30'], ns: 7e6, moment: 2},
  {thread: 'main', stack: ['app.Main.main|interpreted|10', 'app.Main.cold|c1|21'], ns: 1e6, moment: 2},
  {thread: 'pool-1', stack: ['app.Main.hot|c2|20'], ns: 5e5, moment: 1},
  {thread: '[not sampled]', stack: ['[GC]|marker|0'], ns: 3e6, samples: 0},
];
const THREADS = ['main', 'pool-1', '[not sampled]'];
const bytesOf = (): Uint8Array => encodeProfile(STACKS, (thread) => THREADS.indexOf(thread), 3).take();
const threadTable = () => decodeThreads(new Columns(encodeThreads(THREADS, {osIds: {main: 101}, pools: {'pool-1': 'pool'}}).take()));

test('columns become nodes, callers first', () => {
  const {names, threads, nodes} = decodeProfile(new Columns(bytesOf()), threadTable());
  assert.deepEqual(threads.map((t) => [names[t.name], t.row, t.first, t.end]),
    [['main', 0, 0, 4], ['pool-1', 1, 4, 5], ['[not sampled]', 2, 5, 6]]);
  assert.deepEqual([...nodes.parent], [-1, 0, 1, 0, -1, -1]);
  assert.deepEqual([...nodes.name].map((name) => names[name]),
    ['app.Main.main', 'app.Main.hot', 'app.Main.inner', 'app.Main.cold', 'app.Main.hot', '[GC]']);
  assert.deepEqual([...nodes.self], [0, 2e6, 7e6, 1e6, 5e5, 3e6]);
  assert.deepEqual([...nodes.samples], [0, 2, 1, 1, 1, 0]);
  assert.deepEqual([...nodes.imprecise], [0, 1, 0, 0, 0, 0]);
  assert.deepEqual([...nodes.line], [10, 20, 30, 21, 20, 0]);
});

test('what nodes got in each moment', () => {
  const {moments} = decodeProfile(new Columns(bytesOf()), threadTable());
  assert.deepEqual([...moments!.first], [0, 1, 2, 4]);
  assert.deepEqual([...moments!.node], [1, 4, 2, 3]);
  assert.deepEqual([...moments!.self], [2e6, 5e5, 7e6, 1e6]);
  assert.deepEqual([...moments!.samples], [2, 1, 1, 1]);
});

test('threads have names, kinds and pools', () => {
  const threads = threadTable();
  assert.deepEqual(threads.name, THREADS);
  assert.deepEqual(threads.pool, ['', 'pool', '']);
  assert.deepEqual([...threads.kind], [0, 0, 5]);
  assert.equal(threads.osId[0], 101);
});

test('every cut of the data is refused with a sentence, never a hang', () => {
  const bytes = bytesOf();
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => decodeProfile(new Columns(bytes.subarray(0, length)), threadTable()), /^Error: the data of this page/);
  }
});

test('any flipped byte gives a profile or a sentence', () => {
  const bytes = bytesOf();
  for (let at = 0; at < bytes.length; at++) {
    for (const flip of [0x01, 0x80, 0xff]) {
      const damaged = bytes.slice();
      damaged[at]! ^= flip;
      try {
        decodeProfile(new Columns(damaged), threadTable());
      } catch (error) {
        assert.match(String(error), /the data of this page/);
      }
    }
  }
});

test('columns that do not belong together are refused', () => {
  const part = (thread: number, name: number[]): Uint8Array => new Part().texts('types', ['c2']).texts('names', ['A.f'])
    .numbers('thread', [thread]).numbers('thread_nodes', [1]).numbers('up', [0]).numbers('node_name', name)
    .numbers('node_type', [0]).numbers('self', [1]).numbers('samples', [1]).take();
  assert.equal(decodeProfile(new Columns(part(0, [0])), threadTable()).nodes.count, 1);
  assert.throws(() => decodeProfile(new Columns(part(9, [0])), threadTable()), /damaged/);
  assert.throws(() => decodeProfile(new Columns(part(0, [1])), threadTable()), /damaged/);
  assert.throws(() => decodeProfile(new Columns(part(0, [0, 0])), threadTable()), /damaged/);
});

test('weights up to 2^53 - 1 arrive exactly', () => {
  const big = 2 ** 53 - 1;
  assert.equal(profileOf([{thread: 'm', stack: ['A.f|c2'], ns: big}]).nodes.self[0], big);
  assert.equal(decoded([]).profile.nodes.count, 0);
});

test('a head without some of its keys means that nothing was recorded of them', () => {
  const head = decodeHead(new TextEncoder().encode('{"title": "a\\u202eb"}'));
  assert.equal(head.title, 'a\\u{202e}b');
  assert.deepEqual([head.profiles, head.moments, head.complete], [[], 0, 1]);
  assert.throws(() => decodeHead(new TextEncoder().encode('{"title"')), /damaged/);
});
