import assert from 'node:assert/strict';
import test from 'node:test';
import type {Profile} from '../src/data/profile';
import {nameOfKey} from '../src/model/frame_types';
import {collectMethods} from '../src/model/methods';
import {sandwichOf} from '../src/model/sandwich';
import type {Tree} from '../src/model/tree';
import {AROUND, firstParting, hitRing, layoutRing} from '../src/ring/layout';
import {profileOf} from './encode';
import {CHANGED, merged, serverLike, SMALL} from './sample';

const drawn = (profile: Profile, tree: Tree): string[] => Array.from({length: tree.count}, (_, i) =>
  `${'  '.repeat(tree.depth[i]!)}${profile.names[nameOfKey(tree.key[i]!)]} ${tree.total[i]! / 1e6}`);

test('callers above, callees below, and recursion counts once', () => {
  const profile = profileOf(SMALL);
  const calls = merged(profile);
  const {callers, callees} = sandwichOf(profile, calls, profile.names.indexOf('app.Json.parse'));
  assert.deepEqual(drawn(profile, callers), [
    'app.Json.parse 600', '  app.Orders.load 400', '    app.Main.main 400', '  app.Worker.run 200', '    java.lang.Thread.run 200']);
  assert.deepEqual(drawn(profile, callees), ['app.Json.parse 600', '  app.Json.parse 100']);
});

test('both trees weigh what the method weighs, for every method', () => {
  const profile = profileOf(serverLike(2000));
  const calls = merged(profile);
  const methods = collectMethods(calls, profile.names.length);
  for (let name = 0; name < profile.names.length; name += 7) {
    const {callers, callees} = sandwichOf(profile, calls, name);
    for (const tree of [callers, callees]) {
      assert.equal(tree.total[0], methods.total[name]);
      assert.equal(tree.samples[0], methods.totalSamples[name]);
    }
  }
});

test('a comparison has its past on both sides', () => {
  const profile = profileOf(CHANGED);
  const {callers, callees} = sandwichOf(profile, merged(profile), profile.names.indexOf('app.Main.slower'));
  assert.equal(callers.before[0], 300e6);
  assert.equal(callees.before[0], 300e6);
});

test('a method that is not there has no callers', () => {
  const profile = profileOf(SMALL);
  const {callers, callees} = sandwichOf(profile, merged(profile), profile.allName);
  assert.deepEqual([callers.count, callees.count, callers.total[0]], [1, 1, 0]);
});

test('rings: angles are shares, a level further out for each call', () => {
  const profile = profileOf(SMALL);
  const tree = merged(profile);
  const ring = layoutRing(tree, 0, 300);
  assert.equal(ring.rings, 4);
  assert.equal(ring.hidden, 0);
  const middle = (level: number): number => ring.centre + (level - 0.5) * ring.thickness;
  const nodeAt = (level: number, share: number): string => {
    const angle = share * AROUND;
    const hit = hitRing(ring, Math.sin(angle) * middle(level), -Math.cos(angle) * middle(level));
    return hit === null || hit === 'centre' ? String(hit) : profile.names[nameOfKey(tree.key[ring.layout.node[hit.arc]!]!)]!;
  };
  assert.equal(nodeAt(1, 0.3), 'app.Main.main');
  assert.equal(nodeAt(1, 0.61), 'java.lang.Thread.run');
  assert.equal(nodeAt(3, 0.05), 'app.Json.parse');
  assert.equal(nodeAt(4, 0.3), 'null');
  assert.equal(nodeAt(5, 0.3), 'null');
  assert.equal(hitRing(ring, 3, -3), 'centre');
});

test('more levels than fit are told, and the focus is the centre', () => {
  const stack = Array.from({length: 100}, (_, i) => `A.f${i}|c2`);
  const tree = merged(profileOf([{thread: 'm', stack, ns: 1e9}]));
  const ring = layoutRing(tree, 10, 300);
  assert.equal(ring.firstRow, 10);
  assert.equal(ring.rings + ring.hidden, 90);
  assert.ok(ring.rings > 5 && ring.hidden > 0);
  assert.equal(layoutRing(tree, 100, 300).rings, 0);
});

test('the chart begins where calls part', () => {
  const profile = profileOf(serverLike(1000));
  const tree = merged(profile);
  assert.equal(profile.names[nameOfKey(tree.key[firstParting(tree)]!)], 'java.util.concurrent.ThreadPoolExecutor.runWorker');
  assert.equal(firstParting(merged(profileOf(SMALL))), 0);
  assert.equal(firstParting(merged(profileOf([]))), 0);
});
