// What the command writes is what the page reads: src/export/page_parts_test.cpp makes the same bytes.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test from 'node:test';
import {Columns} from '../src/data/columns';
import {decodeProfile} from '../src/data/decode';
import {decodeThreads} from '../src/data/threads';

const part = (name: string): Columns => new Columns(new Uint8Array(readFileSync(`test/fixtures/${name}`)));

test('the page reads what the command has written', () => {
  const threadTable = decodeThreads(part('known.threads'));
  assert.deepEqual(threadTable.name, ['main', 'pool-1', '[not sampled]']);
  assert.deepEqual(threadTable.pool, ['', 'pool-*', '']);
  assert.deepEqual([...threadTable.osId], [101, 102, 0]);
  const {names, threads, nodes, moments} = decodeProfile(part('known.profile'), threadTable);
  assert.deepEqual(threads.map((thread) => names[thread.name]), ['main', 'pool-1', '[not sampled]']);
  assert.deepEqual([...nodes.parent], [-1, 0, 1, 0, -1, -1]);
  assert.deepEqual([...nodes.name].map((name) => names[name]),
    ['app.Main.main', 'app.Main.hot', 'app.Main.inner', 'app.Main.cold', 'app.Main.hot', '[GC]']);
  assert.deepEqual([...nodes.self], [0, 2e6, 7e6, 1e6, 5e5, 3e6]);
  assert.deepEqual([...nodes.imprecise], [0, 1, 0, 0, 0, 0]);
  assert.deepEqual([...moments!.self], [2e6, 7e6, 1e6, 5e5]);
});
