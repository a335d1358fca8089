// Overview, locks, threads and quality in a real browser, on a recording whose numbers are known.
import assert from 'node:assert/strict';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import test, {after, before} from 'node:test';
import {chromium, type BrowserContext, type Page} from 'playwright-core';
import {encodeRecording, fillPage, HEAD, type StackSpec} from '../encode';
import {encodeColumns} from '../story_columns';
import {placeOf} from './place';
import {encodeLocks, encodeWaits, LOCK, type ContentionSpec} from '../story_sample';


const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
               '--disable-component-update', '--disable-sync'];
const folder = mkdtempSync(`${tmpdir()}/tarsier-story-`);
let context: BrowserContext;
const HOSTILE = '</script><img src=x onerror="window.hacked=1">';
const NAMES = ['worker-0', 'worker-1', 'worker-2', HOSTILE, 'G1 Main'];

// Ten seconds in moments of 10 ms. Each worker runs a second in turn; in the sixth second all wait for worker-2.
const CPU: StackSpec[] = Array.from({length: 1000}, (_, moment): StackSpec => {
  const thread = Math.floor(moment / 100) % 3;
  return {thread: NAMES[thread]!, stack: ['app.Main.run|c2|1', thread === 2 ? 'app.Table.byName|c2|2' : 'app.Table.byNumber|c2|3'], ns: 8e6, samples: 8, moment};
});
CPU.push({thread: NAMES[3]!, stack: [`${HOSTILE}|c2|1`], ns: 1e6, moment: 1}, {thread: NAMES[4]!, stack: ['collect|native|1'], ns: 50e6, moment: 20});

const CONTENTIONS: readonly ContentionSpec[] = [
  {begin: 5e9, lock: 'app.Table@1f', thread: 0, chain: [...LOCK, 'app.Table.byNumber', 'app.Main.run'], method: 'app.Table.byNumber', group: 1,
   pieces: [{ns: 600e6, thread: 2, chain: ['app.Table.byName', 'app.Main.run']}, {ns: 100e6, kind: 2}, {ns: 100e6, thread: 1, chain: ['app.Table.byNumber', 'app.Main.run']}]},
  {begin: 5.1e9, lock: 'app.Table@1f', thread: 1, chain: ['app.Table.byNumber', 'app.Main.run'], group: 1,
   pieces: [{ns: 400e6, thread: 2, chain: ['app.Table.byName', 'app.Main.run']}]},
  {begin: 7e9, lock: `${HOSTILE}@2`, thread: 3, chain: [HOSTILE], pieces: [{ns: 50e6}]},
  {begin: 8e9, thread: 2, group: 2, chain: ['app.wait'], pieces: [{ns: 500e6}]},
];

async function write(): Promise<void> {
  const parts: Record<string, Uint8Array> = {...encodeRecording(
    {...HEAD, title: 'story', moments: 1000, moment_ns: 10e6, duration_ns: 10e9, cpus: 4, verdict: ['Recorded 10 s of nothing.', 'Hottest method: app.Table.byNumber.', HOSTILE],
     engines: [{...HEAD.engines[0]!, counters: {[HOSTILE]: 5, zero: 0}}],
     locks: {contentions: 3, kept: 3, total_ns: 1250e6, kept_ns: 1250e6, owners: true, text: ''}},
    {cpu: CPU}, {osIds: Object.fromEntries(NAMES.map((name, i) => [name, 100 + i])), kinds: {'G1 Main': 1}, pools: {'worker-0': 'worker-*', 'worker-1': 'worker-*', 'worker-2': 'worker-*'}})};
  parts['locks'] = encodeLocks(CONTENTIONS);
  parts['waits'] = encodeWaits([{begin: 2e9, ns: 1e9, thread: 1, kind: 'socket', chain: ['read', 'app.Main.run'], waker: 0, wakerChain: ['write', 'app.Main.run']},
                                {begin: 3e9, ns: 0.5e9, thread: 0, kind: HOSTILE}]);
  parts['timeline'] = encodeColumns({at: {differences: [0, 5e9]}, length: [5e9, 5e9], app: [5e9, 10e9], gc: [1e9, 0], idle: [1e9, 1e9],
                                     pause_begin: {differences: [1e9]}, pause_length: [0.2e9], pause_kind: [1], pause_names: ['young'], pause_name: [0]});
  const head = JSON.parse(new TextDecoder().decode(parts['head'])) as {parts: string[]};
  head.parts = Object.keys(parts);
  parts['head'] = new TextEncoder().encode(JSON.stringify(head));
  writeFileSync(`${folder}/story.html`, fillPage(readFileSync('dist/page.html', 'utf8'), parts));
  const bad = {...parts, locks: parts['locks']!.subarray(0, 90)};
  writeFileSync(`${folder}/bad.html`, fillPage(readFileSync('dist/page.html', 'utf8'), bad));
}

before(async () => {
  await write();
  context = await chromium.launchPersistentContext(`${folder}/profile`, {
    executablePath: process.env['CHROMIUM']!, args: [...FLAGS], viewport: {width: 1280, height: 800}, permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(10_000);
});
after(async () => {
  await context?.close();
  rmSync(folder, {recursive: true, force: true});
});

const plain = (text: string): string => text.replace(/\u202f/g, ' ');

async function withPage(fragment: string, check: (page: Page) => Promise<void>, name = 'story'): Promise<void> {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  try {
    await page.goto(`file://${folder}/${name}.html#${fragment}`);
    await page.waitForSelector('[data-main], .empty');
    await page.waitForSelector('.time-strip'); // it is above the views: places are final when it is there
    await check(page);
    assert.equal(await page.evaluate(() => (window as unknown as {hacked?: number}).hacked), undefined);
    assert.deepEqual(complaints, []);
  } finally {
    await page.close();
  }
}

// Rows of the lock tree: "label blocked share times mean p50 p95 max".
const treeRows = async (page: Page): Promise<string[]> =>
  (await page.locator('.lock-tree tbody tr[id]').allInnerTexts()).map((text) => plain(text).replace(/\s+/g, ' ').trim());
const copied = (page: Page): Promise<string> => page.evaluate(() => navigator.clipboard.readText());

test('the overview shows verdict, hottest methods, locks and kinds, with ways to them', () => withPage('view=overview', async (page) => {
  await page.waitForSelector('.hot-list');
  assert.match(await page.innerText('.verdict-panel'), /Recorded 10 s of nothing/);
  const hot = plain(await page.locator('[aria-label="Hottest methods"]').innerText());
  assert.match(hot, /69\.6 %\s+Table\.byNumber\s+5\.60 s/);
  assert.match(plain(await page.locator('[aria-label="Most contended locks"]').innerText()), /1\.25 s blocked, 3 times[\s\S]*96\.0 %\s+Table@1f\s+held by Table\.byName \(83\.3 %\)/);
  const kinds = plain(await page.locator('[aria-label="Threads by kind"] tbody').innerText()).replace(/\s+/g, ' ');
  assert.match(kinds, /application 4 8\.00 s 1\.25 s 1\.50 s GC 1 50\.0 ms/);
  await page.click('[aria-label="Hottest methods"] button');
  await page.waitForURL(/view=flame.*q=%22app\.Table\.byNumber%22/);
  await page.goBack();
  await page.click('[aria-label="Most contended locks"] li button');
  await page.waitForSelector('.lock-tree');
  assert.match(await page.innerText('.lock-tree tr.selected'), /Table@1f/);
}));

test('a brush over the timeline, by mouse and by keys, filters everything; double click clears it', () => withPage('view=overview', async (page) => {
  await page.waitForSelector('.hot-list');
  const box = await placeOf(page, '.timeline canvas');
  const at = (second: number): number => box.x + 128 + ((box.width - 128) * second) / 10;
  await page.mouse.move(at(5), box.y + 30);
  await page.mouse.down();
  await page.mouse.move(at(5.5), box.y + 30, {steps: 4});
  await page.mouse.up();
  await page.waitForURL(/range=/);
  const range = /range=(\d+)-(\d+)/.exec(page.url())!;
  assert.ok(Math.abs(Number(range[1]) - 500) <= 2 && Math.abs(Number(range[2]) - 550) <= 2, range[0]);
  const hot = plain(await page.locator('[aria-label="Hottest methods"]').innerText());
  assert.match(hot, /Table\.byName/);
  assert.doesNotMatch(hot, /byNumber/);
  assert.match(plain(await page.locator('[aria-label="Most contended locks"]').innerText()), /2 times/);
  await page.locator('.timeline .brushed').focus();
  await page.keyboard.press('ArrowRight');
  await page.waitForURL(new RegExp(`range=${Number(range[1]) + 10}-`));
  await page.keyboard.press('Shift+ArrowRight');
  await page.waitForURL(new RegExp(`range=\\d+-${Number(range[2]) + 20}`));
  const now = await placeOf(page, '.timeline canvas');
  assert.deepEqual(now, box, 'the timeline must not move while a range is drawn');
  await page.mouse.dblclick(at(2), box.y + 30);
  await page.waitForFunction(() => !location.hash.includes('range='));
}));

test('hovering the timeline says the numbers; its table says the same', () => withPage('view=overview', async (page) => {
  await page.waitForSelector('.timeline canvas');
  const box = await placeOf(page, '.timeline canvas');
  await page.mouse.move(box.x + 128 + (box.width - 128) * 0.75, box.y + 20);
  const tip = plain(await page.innerText('.tooltip'));
  assert.match(tip, /CPU: 2\.0 CPUs/);
  assert.match(tip, /Waiting: 0\.00 threads/);
  await page.click('.timeline button:has-text("Table")');
  const rows = (await page.locator('.timeline tbody tr').allInnerTexts()).map((row) => plain(row).replace(/\s+/g, ' '));
  assert.equal(rows.length, 10);
  assert.match(rows[2]!, /^2 s 1\.2 CPUs 1\.0 threads 0\.00 threads 0 %$/);
  assert.match(rows[5]!, /^5 s 2\.0 CPUs 0\.00 threads 1\.2 threads 0 %$/);
  assert.match(rows[1]!, /20\.0 %$/);
}));

test('the heat map chooses a time', () => withPage('view=overview', async (page) => {
  await page.waitForSelector('[aria-label^="Heat map of"] canvas');
  await page.waitForSelector('.timeline canvas'); // above it: the heat map moves when it comes
  await page.waitForSelector('[aria-label="Threads by kind"]');
  const box = await placeOf(page, '[aria-label^="Heat map of"] canvas');
  await page.mouse.click(box.x + 128 + (box.width - 128) * 0.45, box.y + 75);
  await page.waitForURL(/range=/);
  const [, first, end] = /range=(\d+)-(\d+)/.exec(page.url())!;
  assert.ok(Number(first) >= 440 && Number(first) <= 460 && Number(end) - Number(first) === 2, `${first} ${end}`);
}));

test('locks by the usual aspects', () => withPage('view=locks', async (page) => {
  assert.deepEqual(await treeRows(page), [
    'Table 1.20 s 96.0 % 2 600 ms 400 ms 800 ms 800 ms',
    'Table.byNumber 1.20 s 96.0 % 2 600 ms 400 ms 800 ms 800 ms',
    'Table.byName 1.00 s 80.0 % 2 500 ms 400 ms 600 ms 600 ms',
    '[hand-off] 100 ms 8.0 % 1 100 ms 100 ms 100 ms 100 ms',
    'Table.byNumber 100 ms 8.0 % 1 100 ms 100 ms 100 ms 100 ms',
    `${HOSTILE} 50.0 ms 4.0 % 1 50.0 ms 50.0 ms 50.0 ms 50.0 ms`,
  ]);
  assert.match(plain(await page.innerText('.locks-summary')), /1\.25 s blocked in 3 contentions; owner known with its chain 88\.0 %/);
}));

test('aspects are moved by dragging, by keys and by buttons; the address has the order', () => withPage('view=locks', async (page) => {
  await page.dragAndDrop('[data-aspect="owner-method"]', '[data-aspect="class"]', {targetPosition: {x: 8, y: 8}});
  await page.waitForURL(/locks\.by=owner-method%2Cclass%2Cblocked-method/);
  assert.match((await treeRows(page))[0]!, /^Table\.byName 1\.00 s 80\.0 % 2/);
  await page.locator('[data-aspect="blocked-method"] .aspect-name').focus();
  await page.keyboard.press('ArrowLeft');
  await page.waitForURL(/locks\.by=owner-method%2Cblocked-method%2Cclass/);
  await page.click('[aria-label="Take Owner method out"]');
  await page.click('.aspect-add:has-text("Owner thread")');
  await page.click('[aria-label="Move Owner thread up"]');
  await page.waitForURL(/locks\.by=blocked-method%2Cowner-thread%2Cclass/);
  assert.deepEqual((await treeRows(page)).slice(0, 3).map((row) => row.split(' ').slice(0, 3).join(' ')), ['Table.byNumber 1.20 s', 'worker-2 1.00 s', 'Table 1.00 s']);
  await page.click('.aspect-add:has-text("Kind of lock")');
  assert.match(plain(await page.innerText('.locks-summary')), /1\.75 s blocked in 4 contentions/);
  await page.goBack();
  await page.waitForURL(/locks\.by=blocked-method%2Cowner-thread%2Cclass(&|$)/);
}));

test('a link restores order, open rows, selection and range', () => withPage('view=locks&locks.by=owner-thread,blocked-thread&range=500-550', async (page) => {
  // worker-2 holds it for 500 ms of worker-0's and 400 ms of worker-1's time.
  assert.deepEqual((await treeRows(page)).map((row) => row.split(' ').slice(0, 4).join(' ')),
    ['worker-2 900 ms 100', 'worker-0 500 ms 55.6', 'worker-1 400 ms 44.4']);
  await page.click('.lock-tree tbody tr:nth-child(3)');
  await page.waitForURL(/locks\.sel=2\.1/);
  const url = page.url();
  const again = await context.newPage();
  await again.goto(url);
  await again.waitForSelector('.lock-tree tr.selected');
  assert.match(await again.innerText('.lock-tree tr.selected'), /worker-1/);
  await again.close();
}));

test('the detail pane has both chains side by side, in full', () => withPage('view=locks&locks.by=blocked-thread', async (page) => {
  await page.locator('.lock-tree').focus();
  await page.keyboard.press('ArrowDown');
  const [blocked, owner] = await page.locator('.two-chains .chain').allInnerTexts();
  assert.deepEqual(blocked!.split('\n'), [...LOCK, 'app.Table.byNumber', 'app.Main.run']);
  assert.deepEqual(owner!.split('\n'), ['app.Table.byName', 'app.Main.run']);
  assert.match(plain(await page.innerText('.details-head')), /worker-0[\s\S]*case 1 of 3: 600 ms, 75\.0 %, 1 time/);
  await page.click('.details-head button:has-text("Next")');
  assert.match(await page.innerText('.two-chains'), /Nobody held it/);
}));

test('who blocks whom as a graph and as a table; search filters both', () => withPage('view=locks&locks.graph=thread', async (page) => {
  await page.click('.blame button:has-text("Table")');
  const rows = (await page.locator('.blame tbody tr').allInnerTexts()).map((row) => plain(row).replace(/\s+/g, ' '));
  assert.equal(rows[0], 'worker-2 worker-0 600 ms 48.0 % 1');
  assert.equal(rows[1], 'worker-2 worker-1 400 ms 32.0 % 1');
  await page.fill('.locks-line input', 'onerror');
  assert.deepEqual((await page.locator('.blame tbody tr').allInnerTexts()).length, 1);
  assert.match((await treeRows(page))[0]!, /50\.0 ms 100 %/);
  assert.match(plain(await page.innerText('output.found')), /4\.0 %/);
}));

test('lanes: n selects a blocked time, the owner is marked, both chains are there; the owner may be another', () => withPage('view=threads', async (page) => {
  await page.locator('.lane-scroll').focus();
  // The first group is of the pool; its threads by CPU time: worker-0 has the most.
  for (const key of ['ArrowDown', 'ArrowDown', 'n']) await page.keyboard.press(key);
  await page.waitForURL(/threads\.at=b0/);
  const details = plain(await page.innerText('.lane-details'));
  assert.match(details, /worker-0 \(100\) blocked\s+800 ms from 5\.000000 s on/);
  assert.match(details, /worker-2 \(102\) 600 ms, 75\.0 %/);
  assert.deepEqual((await page.locator('.two-chains .chain').allInnerTexts())[1]!.split('\n'), ['app.Table.byName', 'app.Main.run']);
  await page.click('.owners button:has-text("worker-1")');
  await page.waitForURL(/threads\.owner=2/);
  assert.deepEqual((await page.locator('.two-chains .chain').allInnerTexts())[1]!.split('\n'), ['app.Table.byNumber', 'app.Main.run']);
  await page.keyboard.press('Escape');
}));

test('lanes: a click on a blocked time, a wait that leads to its waker, zoom by dragging', () => withPage('view=threads', async (page) => {
  const box = await placeOf(page, '.lane-canvas');
  const gutter = Math.min(Math.max(Math.round(box.width * 0.16), 110), 240);
  const at = (second: number): number => box.x + gutter + ((box.width - gutter) * second) / 10;
  await page.mouse.click(at(5.4), box.y + 22 + 20 + 10); // worker-0
  await page.waitForURL(/threads\.at=b0/);
  await page.mouse.click(at(2.5), box.y + 22 + 40 + 10); // worker-1
  assert.match(plain(await page.innerText('.lane-details')), /worker-1 \(101\) waiting\s+1\.00 s[\s\S]*for: socket; woken by worker-0 \(100\)/);
  await page.mouse.move(at(2), box.y + 100);
  await page.mouse.down();
  await page.mouse.move(at(4), box.y + 100, {steps: 3});
  await page.mouse.up();
  await page.waitForURL(/threads\.time=/);
  const [, from, to] = /threads\.time=(\d+)-(\d+)/.exec(page.url())!;
  assert.ok(Math.abs(Number(from) - 2e9) < 5e7 && Math.abs(Number(to) - 4e9) < 5e7, `${from} ${to}`);
  await page.click('button:has-text("Use as range")');
  await page.waitForURL(/range=19\d-40\d|range=200-400/);
}));

test('lanes as a table, threads found by name', () => withPage('view=threads&threads.table=1', async (page) => {
  const rows = async (): Promise<string[]> => (await page.locator('.thread-table tbody tr').allInnerTexts()).map((row) => plain(row).replace(/\s+/g, ' ').trim());
  assert.equal((await rows())[0], 'worker-0 (100) app worker-* 3.20 s 800 ms 1 500 ms 1');
  await page.fill('.lanes input', 'worker-2');
  assert.deepEqual(await rows(), ['worker-2 (102) app worker-* 2.40 s']);
}));

test('quality: taken = written + dropped, by cause, cost and counters', () => withPage('view=quality', async (page) => {
  const text = plain(await page.innerText('.quality'));
  assert.match(text, /28,400 taken = 28,391 written \+ 9 dropped \(0\.03 %: ring full 9\); 61 of the written without a stack \(0\.21 %\)/);
  assert.match(text, /in the program.s threads\s+41\.0 ms/);
  assert.match(text, /3 of 3 one by one, with 100 % of 1\.25 s/);
  await page.click('.card summary');
  assert.match(await page.innerText('.counters'), /onerror[\s\S]*5/);
}));

test('every view copies as text and saves a picture', () => withPage('view=overview', async (page) => {
  const texts: readonly [string, string, RegExp][] = [
    ['overview', 'Copy timeline as text', /from\s+CPU\s+Waiting/], ['locks', 'Copy locks as text', /blocked\s+share\s+times/],
    ['threads', 'Copy threads as text', /worker-0 \(100\)/], ['quality', 'Copy quality as text', /engine\s+mechanism/]];
  for (const [view, button, expected] of texts) {
    await page.click(`nav.views a:has-text("${view[0]!.toUpperCase()}${view.slice(1)}")`);
    await page.waitForSelector('[data-main]');
    await page.click(`button[aria-label="${button}"]`);
    await page.waitForFunction(() => [...document.querySelectorAll('.chart-actions [role=status]')].some((each) => each.textContent === 'Copied'));
    assert.match(await copied(page), expected);
  }
  for (const [view, button] of [['overview', 'Save timeline as PNG'], ['overview', 'Save heat-map as PNG'], ['locks', 'Save who-blocks-whom as PNG'], ['threads', 'Save threads as PNG']] as const) {
    await page.click(`nav.views a:has-text("${view[0]!.toUpperCase()}${view.slice(1)}")`);
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(`button[aria-label="${button}"]`)]);
    assert.match(download.suggestedFilename(), /^tarsier-.*\.png$/);
    assert.equal(readFileSync((await download.path())!).subarray(1, 4).toString(), 'PNG');
  }
}));

test('a damaged part is said, the other views are there', () => withPage('view=locks', async (page) => {
  assert.match(await page.innerText('.empty'), /The locks cannot be shown/);
  await page.click('nav.views a:has-text("Threads")');
  await page.waitForSelector('.lane-canvas');
  assert.match(await page.innerText('.warning'), /locks:/);
}, 'bad'));

for (const scheme of ['light', 'dark'] as const) {
  test(`axe finds nothing serious in ${scheme}`, async () => {
    for (const fragment of ['view=overview', 'view=locks', 'view=locks&locks.sel=0', 'view=threads', 'view=threads&threads.at=b0', 'view=threads&threads.table=1', 'view=quality']) {
      await withPage(fragment, async (page) => {
        await page.emulateMedia({colorScheme: scheme});
        await page.waitForTimeout(300);
        await page.evaluate(readFileSync('node_modules/axe-core/axe.min.js', 'utf8'));
        const found = await page.evaluate(async () => {
          const axe = (window as unknown as {axe: {run: () => Promise<{violations: {id: string; impact: string; nodes: {html: string; failureSummary: string}[]}[]}>}}).axe;
          return (await axe.run()).violations.map((v) => `${v.impact} ${v.id}: ${v.nodes[0]!.html.slice(0, 200)} ${v.nodes[0]!.failureSummary.slice(0, 200)}`);
        });
        assert.deepEqual(found.filter((each) => /^(serious|critical)/.test(each)), [], fragment);
      });
    }
  });
}
