import assert from 'node:assert/strict';
import test from 'node:test';
import {BY_CHANGE} from '../src/flame/coloring';
import {factsOf, type View} from '../src/flame/facts';
import {changeBetween, CHANGES, mostChanged} from '../src/model/changes';
import {nameOfKey} from '../src/model/frame_types';
import {reverseCalls} from '../src/model/reverse';
import {profileOf} from './encode';
import {CHANGED, merged} from './sample';

const nameOf = (before: number, after: number, samples: number): string => CHANGES[changeBetween(before, after, samples)]!.name;

test('a change is one if it is more than a tenth and than counting varies by chance', () => {
  assert.equal(nameOf(100, 100, 200), 'same');
  assert.equal(nameOf(1000, 1099, 1e6), 'same');
  assert.equal(nameOf(1000, 1200, 2200), 'more');
  assert.equal(nameOf(1000, 1200, 22), 'same');
  assert.equal(nameOf(1000, 2100, 3100), 'much more');
  assert.equal(nameOf(1200, 1000, 2200), 'less');
  assert.equal(nameOf(2100, 1000, 3100), 'much less');
  assert.equal(nameOf(0, 500, 500), 'new');
  assert.equal(nameOf(500, 0, 500), 'gone');
  assert.equal(nameOf(0, 3, 3), 'same');
  assert.equal(nameOf(0, 0, 0), 'same');
  assert.equal(nameOf(100, 300, 0), 'much more', 'measured, not sampled: nothing is known of its noise');
});

test('a comparison has both recordings in every tree, and what is gone as well', () => {
  const profile = profileOf(CHANGED);
  const calls = merged(profile);
  const seen = Object.fromEntries(Array.from({length: calls.count}, (_, i) =>
    [profile.names[nameOfKey(calls.key[i]!)]!, [calls.before[i]! / 1e6, calls.total[i]! / 1e6]]));
  assert.deepEqual(seen, {all: [1000, 1100], 'app.Main.main': [1000, 1100], 'app.Main.same': [400, 400],
                          'app.Main.slower': [300, 450], 'app.Main.gone': [300, 150], 'app.Main.fresh': [0, 100]});
  const reversed = reverseCalls(profile, calls, false, []);
  assert.equal(reversed.before[0], 1000e6);
  const {rows, count} = mostChanged(calls, profile.names.length, 3);
  assert.deepEqual(rows.map((row) => [profile.names[row.name], row.before / 1e6, row.after / 1e6, CHANGES[row.change]!.name]),
    [['app.Main.slower', 300, 600, 'more'], ['app.Main.gone', 300, 0, 'gone'], ['app.Main.fresh', 0, 200, 'new']]);
  assert.equal(count, 4);
});

test('a frame says what it had before and has now', () => {
  const profile = profileOf(CHANGED);
  const calls = merged(profile);
  const view: View = {profile, calls, tree: calls, unit: 'ns', coloring: BY_CHANGE};
  const node = Array.from({length: calls.count}, (_, i) => i).find((i) => profile.names[nameOfKey(calls.key[i]!)] === 'app.Main.slower')!;
  assert.equal(factsOf(view, node).numbers.replace(/\u202f/g, ' '),
    'total 300 ms \u2192 600 ms (+300 ms, \u00d72.00) \u00b7 self 300 ms \u2192 600 ms (+300 ms, \u00d72.00) \u00b7 900 samples in both \u00b7 more');
});
