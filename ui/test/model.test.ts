import assert from 'node:assert/strict';
import test from 'node:test';
import type {Profile} from '../src/data/profile';
import {BY_TYPE, weightByKind} from '../src/flame/coloring';
import {FRAME_TYPES, keyOf, nameOfKey, NO_FRAME} from '../src/model/frame_types';
import {makeupOf} from '../src/model/merge';
import {hottestMethods} from '../src/model/methods';
import {shortLabel} from '../src/charts/chains';
import {splitName} from '../src/model/names';
import {reverseCalls} from '../src/model/reverse';
import {compileQuery, matchedWeight, matchNames} from '../src/model/search';
import {nodeAtPath, pathOf, type Tree} from '../src/model/tree';
import {profileOf} from './encode';
import {merged, serverLike, SMALL} from './sample';

const ms = (ns: number): number => ns / 1e6;

function drawn(profile: Profile, tree: Tree): string[] {
  return Array.from({length: tree.count}, (_, i) =>
    `${'  '.repeat(tree.depth[i]!)}${profile.names[nameOfKey(tree.key[i]!)]} ${ms(tree.total[i]!)}`);
}

const matched = (profile: Profile, tree: Tree, text: string, isRegex = false): number => {
  const query = compileQuery(text, isRegex);
  assert.ok('test' in query);
  return ms(matchedWeight(tree, matchNames(profile.names, query)).weight);
};

test('threads, lines and Java types merge into one tree, heaviest first', () => {
  const profile = profileOf(SMALL);
  const tree = merged(profile);
  assert.deepEqual(drawn(profile, tree), [
    'all 1000',
    '  app.Main.main 600',
    '    app.Orders.load 500',
    '      app.Json.parse 400',
    '        app.Json.parse 100',
    '    app.Report.print 100',
    '      write 100',
    '        ksys_write 100',
    '  java.lang.Thread.run 290',
    '    app.Worker.run 290',
    '      app.Json.parse 200',
    '      jlong_disjoint_arraycopy 50',
    '      JVM_MonitorNotify 40',
    '  [GC] 80',
    '  [JIT] 20',
    '  [failed: unknown Java frame] 10',
  ]);
});

test('by thread, threads are the first level', () => {
  const profile = profileOf(SMALL);
  const tree = merged(profile, {}, true);
  assert.deepEqual(drawn(profile, tree).filter((line) => /^  \S/.test(line)),
    ['  main 600', '  pool-1-thread-1 250', '  [not sampled] 100', '  pool-1-thread-2 50']);
});

test('a chosen thread stands alone', () => {
  const profile = profileOf(SMALL);
  const tree = merged(profile, {threads: Uint8Array.of(0, 0, 1, 0)});
  assert.deepEqual(drawn(profile, tree), [
    'all 50', '  java.lang.Thread.run 40', '    app.Worker.run 40', '      JVM_MonitorNotify 40',
    '  [failed: unknown Java frame] 10']);
});

test('reversed, hot methods come first and their callers follow', () => {
  const profile = profileOf(SMALL);
  const calls = merged(profile);
  const tree = reverseCalls(profile, calls, false, []);
  const lines = drawn(profile, tree);
  assert.deepEqual(lines.slice(0, 11), [
    'all 1000',
    '  app.Json.parse 600',
    '    app.Orders.load 300',
    '      app.Main.main 300',
    '    app.Worker.run 200',
    '      java.lang.Thread.run 200',
    '    app.Json.parse 100',
    '      app.Orders.load 100',
    '        app.Main.main 100',
    '  app.Orders.load 100',
    '    app.Main.main 100',
  ]);
});

test('reversed by thread, threads come before the hot methods', () => {
  const profile = profileOf(SMALL);
  const calls = merged(profile, {}, true);
  assert.deepEqual(drawn(profile, reverseCalls(profile, calls, true, [])).slice(0, 4),
    ['all 1000', '  main 600', '    app.Json.parse 400', '      app.Orders.load 300']);
});

test('reversing loses no weight, no sample and no imprecision, whatever is folded', () => {
  const profile = profileOf([...serverLike(3000), {thread: 'x', stack: ['A.f|c2'], ns: 5e6, samples: 5, imprecise: 3}]);
  for (const byThread of [false, true]) {
    const calls = merged(profile, {}, byThread);
    const full = reverseCalls(profile, calls, byThread, []);
    const zoomed = reverseCalls(profile, calls, byThread, pathOf(full, 3));
    for (const tree of [full, zoomed]) {
      assert.equal(tree.total[0], calls.total[0]);
      assert.equal(tree.samples[0], calls.samples[0]);
      assert.equal(tree.imprecise[0], 3);
    }
  }
});

test('zooming a reversed tree keeps the path and its weights', () => {
  const profile = profileOf(serverLike(3000));
  const calls = merged(profile);
  const full = reverseCalls(profile, calls, false, []);
  const node = full.depth.indexOf(4);
  const path = pathOf(full, node);
  const zoomed = reverseCalls(profile, calls, false, path);
  const there = nodeAtPath(zoomed, path);
  assert.equal(zoomed.total[there], full.total[node]);
  assert.deepEqual(pathOf(zoomed, there), path);
});

test('a search counts a stack once, however often it matches', () => {
  const profile = profileOf(SMALL);
  const tree = merged(profile);
  assert.equal(matched(profile, tree, 'json'), 600);
  assert.equal(matched(profile, tree, 'app.'), 890);
  assert.equal(matched(profile, tree, '"app.Orders.load"'), 500);
  assert.equal(matched(profile, tree, '"app.Orders"'), 0);
  assert.equal(matched(profile, tree, 'parse$|^write$', true), 700);
  assert.equal(matched(profile, tree, 'no such'), 0);
});

test('a broken expression is an error, not an exception', () => {
  assert.ok('error' in compileQuery('(', true));
  assert.ok('test' in compileQuery('(', false));
});

test('methods: recursion counts once in total, self adds up to everything', () => {
  const profile = profileOf(SMALL);
  const tree = merged(profile);
  const {rows, count} = hottestMethods(tree, profile.names, 'self', 100);
  const parse = rows[0]!;
  assert.equal(profile.names[parse.name], 'app.Json.parse');
  assert.deepEqual([ms(parse.self), ms(parse.total), parse.samples], [600, 600, 600]);
  assert.equal(rows.reduce((sum, row) => sum + ms(row.self), 0), 1000);
  assert.equal(count, rows.length);
  const byTotal = hottestMethods(tree, profile.names, 'total', 2).rows;
  assert.deepEqual(byTotal.map((row) => [profile.names[row.name], ms(row.total)]),
    [['app.Json.parse', 600], ['app.Main.main', 600]]);
});

test('self weight by type adds up to everything', () => {
  const weights = weightByKind(BY_TYPE, merged(profileOf(SMALL)));
  const byName = Object.fromEntries(FRAME_TYPES.map((type, i) => [type.name, ms(weights[i]!)]));
  assert.deepEqual(byName, {java: 0, interpreted: 0, c1: 0, c2: 300, inlined: 400, native: 0, stub: 50, vm: 40,
                            kernel: 100, class: 0, marker: 110});
});

test('a mixed node is named by its heaviest type and knows its lines', () => {
  const profile = profileOf([
    {thread: 'm', stack: ['A.f|interpreted|1'], ns: 10e6},
    {thread: 'm', stack: ['A.f|c2|1'], ns: 50e6},
    {thread: 'm', stack: ['A.f|c1|7'], ns: 40e6},
    {thread: 'm', stack: ['A.f|native'], ns: 30e6},
  ]);
  const tree = merged(profile);
  assert.deepEqual(drawn(profile, tree), ['all 130', '  A.f 100', '  A.f 30']);
  assert.equal(FRAME_TYPES[tree.type[1]!]!.name, 'c2');
  const makeup = makeupOf(profile, tree, 1);
  assert.deepEqual(makeup.lines.map(({line, weight}) => [line, ms(weight)]), [[1, 60], [7, 40]]);
  assert.deepEqual(makeup.types.map(({type, weight}) => [FRAME_TYPES[type]!.name, ms(weight)]),
    [['c2', 50], ['c1', 40], ['interpreted', 10]]);
});

test('paths lead back to their node, or as far as they exist', () => {
  const profile = profileOf(SMALL);
  const tree = merged(profile);
  for (let i = 0; i < tree.count; i++) assert.equal(nodeAtPath(tree, pathOf(tree, i)), i);
  assert.equal(nodeAtPath(tree, [tree.key[1]!, keyOf(9999, NO_FRAME)]), 1);
});

test('stacks of a hundred thousand frames merge, reverse and search', () => {
  const stack = Array.from({length: 100_000}, (_, i) => `A.f${i % 7}|c2`);
  const profile = profileOf([{thread: 'm', stack, ns: 1e9}, {thread: 'n', stack: stack.slice(0, 50_000), ns: 1e9}]);
  const calls = merged(profile);
  assert.equal(calls.maxDepth, 100_000);
  assert.equal(reverseCalls(profile, calls, false, []).maxDepth, 100_000);
  assert.equal(matched(profile, calls, 'A.f6'), 2000);
  assert.equal(hottestMethods(calls, profile.names, 'total', 1).rows[0]!.total, 2e9);
});

test('a recording of nothing is a root without weight', () => {
  const profile = profileOf([]);
  const calls = merged(profile);
  assert.deepEqual([calls.count, calls.total[0]], [1, 0]);
  assert.equal(reverseCalls(profile, calls, false, []).count, 1);
  assert.equal(hottestMethods(calls, profile.names, 'self', 10).rows.length, 0);
});

test('a name is taken apart into class and package, also that of a hidden class', () => {
  assert.deepEqual(splitName('java.lang.String.hashCode'), {inner: 'String.hashCode', outer: 'java.lang'});
  assert.deepEqual(splitName('a.b.C$$Lambda.0x000001ff.call'), {inner: 'C$$Lambda.0x000001ff.call', outer: 'a.b'});
  assert.deepEqual(splitName('C$$Lambda.0x000001ff.call'), {inner: 'C$$Lambda.0x000001ff.call', outer: ''});
  assert.deepEqual(splitName('ep_remove.isra.0'), {inner: 'ep_remove.isra.0', outer: ''});
  assert.equal(shortLabel('ep_remove.isra.0'), 'ep_remove.isra.0');
  assert.equal(shortLabel('java.lang.String.hashCode'), 'String.hashCode');
  assert.deepEqual(splitName('[failed: x]'), {inner: '[failed: x]', outer: ''});
});
