import assert from 'node:assert/strict';
import test from 'node:test';
import type {Profile} from '../src/data/profile';
import {shareInterval, wilson95} from '../src/model/confidence';
import {weightByMoment} from '../src/model/filter';
import {nameOfKey} from '../src/model/frame_types';
import {collectMethods, orderMethods} from '../src/model/methods';
import type {Tree} from '../src/model/tree';
import {matchMarks, openShare, pathMarks, visibleRows} from '../src/model/tree_rows';
import {threadMask} from '../src/shell/threads_filter';
import {decoded, profileOf} from './encode';
import {merged, serverLike, SMALL, TIMED} from './sample';

const lines = (profile: Profile, tree: Tree): string[] => Array.from({length: tree.count}, (_, i) =>
  `${profile.names[nameOfKey(tree.key[i]!)]} ${tree.total[i]! / 1e6} ${tree.samples[i]}`);
const mask = (profile: Profile, ...names: string[]): Uint8Array => Uint8Array.from(profile.names, (name) => Number(names.includes(name)));

test('a range of time has what its moments had', () => {
  const profile = profileOf(TIMED);
  assert.deepEqual(lines(profile, merged(profile, {range: {first: 4, end: 5}})), [
    'all 100 100', 'app.Main.main 100 100', 'app.Report.print 100 100', 'write 100 100', 'ksys_write 100 100']);
  const first = merged(profile, {range: {first: 0, end: 2}});
  assert.equal(first.total[0], 250e6);
  assert.equal(merged(profile, {range: {first: 10, end: 20}}).count, 1);
});

test('all moments together are everything that was sampled', () => {
  const profile = profileOf(TIMED);
  const all = merged(profile, {range: {first: 0, end: 10}});
  assert.equal(all.total[0], 900e6);
  assert.equal(all.samples[0], 900);
  const parts = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((m) => merged(profile, {range: {first: m, end: m + 1}}).total[0]!);
  assert.equal(parts.reduce((a, b) => a + b), 900e6);
  assert.deepEqual([...weightByMoment(profile, null)], parts);
});

test('the strip of time knows threads, too', () => {
  const {profile, threads} = decoded(TIMED);
  const main = weightByMoment(profile, threadMask(profile, threads, 't0'));
  assert.deepEqual([...main].map((ns) => ns / 1e6), [125, 125, 125, 125, 100, 0, 0, 0, 0, 0]);
});

test('include keeps stacks with such a frame, exclude drops them', () => {
  const profile = profileOf(SMALL);
  const json = mask(profile, 'app.Json.parse');
  const with_ = merged(profile, {include: [json]});
  const without = merged(profile, {exclude: json});
  assert.equal(with_.total[0], 600e6);
  assert.equal(without.total[0], 400e6);
  const both = merged(profile, {include: [json, mask(profile, 'app.Worker.run')]});
  assert.deepEqual(lines(profile, both), ['all 200 200', 'java.lang.Thread.run 200 200', 'app.Worker.run 200 200', 'app.Json.parse 200 200']);
  assert.equal(merged(profile, {include: [json], exclude: json}).count, 1);
});

test('threads are chosen by row, pool, group or kind', () => {
  const {profile, threads} = decoded(SMALL, {pools: {'pool-1-thread-1': 'pool-1', 'pool-1-thread-2': 'pool-1'},
                                              groups: {main: 'main', 'pool-1-thread-1': 'main'}});
  const weight = (choice: string): number => merged(profile, {threads: threadMask(profile, threads, choice)}).total[0]! / 1e6;
  assert.deepEqual(['', 't0', 'ppool-1', 'gmain', 'kapp', 'kother', 'tx', 'k'].map(weight), [1000, 600, 300, 850, 900, 100, 0, 0]);
});

test('the interval is that of the report: Wilson, around the share, wider with fewer samples', () => {
  // Checked with the closed form: p = 0.6, n = 100.
  const {low, high} = wilson95(0.6, 100);
  assert.ok(Math.abs(low - 0.50201) < 1e-4 && Math.abs(high - 0.69060) < 1e-4, `${low} ${high}`);
  assert.deepEqual(wilson95(0.5, 0), {low: 0, high: 0});
  const profile = profileOf(SMALL);
  const calls = merged(profile);
  assert.equal(calls.sampled, 900e6);
  assert.ok(Math.abs(calls.effectiveSamples - 900) < 1e-6);
  const found = shareInterval(calls, 600e6, 600)!;
  assert.ok(found.low < 0.6 && found.high > 0.6 && found.high - found.low < 0.07);
  assert.equal(shareInterval(calls, 80e6, 0), null, 'measured, not sampled');
});

test('methods sort by each column', () => {
  const profile = profileOf(SMALL);
  const methods = collectMethods(merged(profile), profile.names.length);
  const first = (by: 'self' | 'total' | 'samples' | 'name'): string => profile.names[orderMethods(methods, profile.names, by, null)[0]!]!;
  assert.deepEqual([first('self'), first('total'), first('samples'), first('name')],
    ['app.Json.parse', 'app.Json.parse', 'app.Json.parse', 'JVM_MonitorNotify']);
  const some = orderMethods(methods, profile.names, 'self', mask(profile, 'write', 'app.Main.main'));
  assert.deepEqual([...some].map((name) => profile.names[name]), ['app.Main.main', 'write']);
});

test('rows of the tree: open ones show their callees, a chain is not set in', () => {
  const profile = profileOf(SMALL);
  const tree = merged(profile);
  const shown = (isOpen: (node: number) => boolean, marks: Uint8Array | null = null): string[] => {
    const rows = visibleRows(tree, isOpen, marks);
    return Array.from(rows.node, (node, i) => `${'.'.repeat(rows.indent[i]!)}${profile.names[nameOfKey(tree.key[node]!)]}`);
  };
  assert.deepEqual(shown(() => false), ['app.Main.main', 'java.lang.Thread.run', '[GC]', '[JIT]', '[failed: unknown Java frame]']);
  assert.deepEqual(shown((node) => node === 8).slice(1, 3), ['java.lang.Thread.run', 'app.Worker.run'], 'its only callee');
  assert.deepEqual(shown((node) => node === 1).slice(0, 3), ['app.Main.main', '.app.Orders.load', '.app.Report.print']);
  const marks = matchMarks(tree, mask(profile, 'write'));
  assert.deepEqual(shown((node) => (marks[node]! & 2) !== 0, marks), ['app.Main.main', '.app.Report.print', '.write']);
});

test('what was opened is known again in a tree of another filter', () => {
  const profile = profileOf(TIMED);
  const [a, b] = [merged(profile), merged(profile, {range: {first: 5, end: 10}})];
  const marksA = pathMarks(a);
  const marksB = pathMarks(b);
  assert.equal(new Set(marksA).size, a.count);
  const names = (tree: Tree, node: number): string => profile.names[nameOfKey(tree.key[node]!)]!;
  for (let i = 1; i < b.count; i++) assert.equal(names(a, marksA.indexOf(marksB[i]!)), names(b, i));
});

test('at first so much is open as gives an overview', () => {
  const profile = profileOf(serverLike(3000));
  const tree = merged(profile);
  const least = openShare(tree) * tree.total[0]!;
  const rows = visibleRows(tree, (node) => tree.total[node]! >= least, null);
  assert.ok(rows.count >= 10 && rows.count <= 300, String(rows.count));
});
