import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test from 'node:test';
import {decodeProfile} from '../src/data/decode';
import {encodeFlame} from './encode';

// The model that src/export/flame_model_for_test.h builds; the exporter's test compares its bytes with the same file.
const KNOWN = 'test/fixtures/known.flame';
const known = () => encodeFlame([
  {thread: 'main', stack: ['app.Main.main|interpreted|10', 'app.Main.hot|c2|20'], ns: 2e6, samples: 2, imprecise: 1},
  {thread: 'main', stack: ['app.Main.main|interpreted|10', 'app.Main.hot|c2|20', 'app.Main.inner|inlined|30'], ns: 7e6},
  {thread: 'main', stack: ['app.Main.main|interpreted|10', 'app.Main.cold|c1|21'], ns: 1e6},
  {thread: 'pool-1', stack: ['app.Main.hot|c2|20'], ns: 5e5},
  {thread: '[not sampled]', stack: ['[GC]|marker|0'], ns: 3e6, samples: 0},
], {main: 101, 'pool-1': 102}, ['app.Main.main', 'app.Main.hot', 'app.Main.inner', 'app.Main.cold', 'main', 'pool-1'],
{'[not sampled]': 5});

test('the fixture is what both writers write', () => {
  assert.deepEqual([...known()], [...readFileSync(KNOWN)]);
});

test('the exporter\'s bytes become columns, callers first', () => {
  const {names, threads, nodes} = decodeProfile(new Uint8Array(readFileSync(KNOWN)));
  assert.deepEqual(threads.map((t) => [names[t.name], t.osId, t.first, t.end]),
    [['main', 101, 0, 4], ['pool-1', 102, 4, 5], ['[not sampled]', 0, 5, 6]]);
  assert.deepEqual([...nodes.parent], [-1, 0, 1, 0, -1, -1]);
  assert.deepEqual([...nodes.name].map((name) => names[name]),
    ['app.Main.main', 'app.Main.hot', 'app.Main.inner', 'app.Main.cold', 'app.Main.hot', '[GC]']);
  assert.deepEqual([...nodes.self], [0, 2e6, 7e6, 1e6, 5e5, 3e6]);
  assert.deepEqual([...nodes.samples], [0, 2, 1, 1, 1, 0]);
  assert.deepEqual([...nodes.imprecise], [0, 1, 0, 0, 0, 0]);
  assert.deepEqual([...nodes.line], [10, 20, 30, 21, 20, 0]);
});

test('every cut of the data is refused with a sentence, never a hang', () => {
  const bytes = known();
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => decodeProfile(bytes.subarray(0, length)), /^Error: the data in this page/);
  }
});

test('any flipped byte gives a profile or a sentence', () => {
  const bytes = known();
  for (let at = 0; at < bytes.length; at++) {
    for (const flip of [0x01, 0x80, 0xff]) {
      const damaged = bytes.slice();
      damaged[at]! ^= flip;
      try {
        decodeProfile(damaged);
      } catch (error) {
        assert.match(String(error), /the data in this page/);
      }
    }
  }
});

test('weights up to 2^53 - 1 arrive exactly', () => {
  const big = 2 ** 53 - 1;
  assert.equal(decodeProfile(encodeFlame([{thread: 'm', stack: ['A.f|c2'], ns: big}])).nodes.self[0], big);
});
