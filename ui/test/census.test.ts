// What is said where nothing is sampled.
import assert from 'node:assert/strict';
import test from 'node:test';
import {exactText, type Engine, type ProfileHead} from '../src/data/head';
import {isZero, zeros} from '../src/model/tree';

const profile = (name: string, census: boolean, events: string): ProfileHead => (
  {name, unit: 'ns', what: '', events, census, samples: {count: 1, failed: 0, imprecise: 0, truncated: 0}, unsampled_ns: {}});
const engine = (name: string, taken: number, written: number): Engine => (
  {name, mechanism: '', why: '', interval_ns: 0, interval_bytes: 0, taken, written, failed: 0, dropped: {}});

test('a census is exact, unless its engine has dropped some', () => {
  assert.equal(exactText(profile('cpu', false, 'samples'), []), '');
  assert.match(exactText(profile('locks', true, 'contentions'), [engine('lock', 1000, 999), engine('waits', 10, 5)]), /^exact: contentions /);
  assert.match(exactText(profile('waits', true, 'waits'), [engine('waits', 1000, 664)]), /^not sampled: .*33\.6.% .*dropped$/);
  assert.match(exactText(profile('owners', true, 'delays'), []), /^exact/); // JFR's own recordings name no such engine
});

test('columns of zeros are shared, and never taken for others', () => {
  const few = zeros(3);
  const many = zeros(1000);
  assert.deepEqual([few.length, many.length, isZero(few), isZero(many)], [3, 1000, true, true]);
  assert.equal(isZero(Float64Array.of(0, 0, 1)), false);
});
