// The page as a server sends it: reading, renewed, ready, failed. The server here is made up; it says what docs/page.md says.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import test, {after, before} from 'node:test';
import {chromium, type Browser, type Page} from 'playwright-core';
import {encodeRecording, type Parts} from '../encode';
import {SMALL, SMALL_HEAD} from '../sample';

let browser: Browser;
before(async () => {
  browser = await chromium.launch({executablePath: process.env['CHROMIUM']!, args: ['--headless', '--no-sandbox', '--disable-gpu']});
});
after(() => browser?.close());

interface Said {
  status: {state: string; done?: number; parts?: number; message?: string};
  parts: Parts;
}

const HALF = encodeRecording({...SMALL_HEAD, complete: 0.4}, {cpu: SMALL.slice(0, 3)});
const WHOLE = encodeRecording(SMALL_HEAD, {cpu: SMALL});

async function withServer(said: Said, check: (page: Page, server: Server) => Promise<void>, fragment = '#view=flame'): Promise<void> {
  const template = readFileSync('dist/page.html', 'utf8').replace("connect-src 'none'", "connect-src 'self'")
    .replace('<!--tarsier:data-->', '<script type="application/json" id="tarsier-server">{}</script>');
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^\/token\//, '');
    const part = /^api\/parts\/([\w-]+)(?:\?of=(\d+))?$/.exec(path);
    if (path === '') response.setHeader('Content-Type', 'text/html; charset=utf-8').end(template);
    else if (path === 'api/status') response.end(JSON.stringify(said.status));
    else if (part !== null && part[2] !== undefined && Number(part[2]) !== said.status.parts) response.writeHead(410).end();
    else if (part !== null && said.parts[part[1]!] !== undefined) response.end(said.parts[part[1]!]);
    else response.writeHead(404).end();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  try {
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/token/${fragment}`);
    await check(page, server);
    assert.deepEqual(errors, []);
  } finally {
    await page.close();
    server.closeAllConnections?.();
    server.close();
  }
}

const total = (page: Page): Promise<string> => page.innerText('.methods tbody');

test('while the server reads, the page says how far it is, then shows everything', () => {
  const said: Said = {status: {state: 'reading', done: 0.1}, parts: {}};
  return withServer(said, async (page) => {
    await page.waitForSelector('text=Reading the recording, 10 %');
    assert.equal(await page.getAttribute('progress', 'value'), '0.1');
    said.parts = HALF;
    said.status = {state: 'reading', done: 0.42, parts: 1};
    await page.waitForSelector('#flame');
    await page.waitForSelector('text=Reading, 42 %. Shown is what has been read so far.');
    assert.doesNotMatch(await total(page), /ksys_write/);
    said.parts = WHOLE;
    said.status = {state: 'ready'};
    await page.waitForFunction(() => document.querySelector('.methods tbody')?.textContent?.includes('ksys_write'));
    assert.equal(await page.locator('.reading').count(), 0);
  });
});

test('a zoom survives that the recording is renewed', () => {
  const said: Said = {status: {state: 'reading', done: 0.4, parts: 1}, parts: HALF};
  return withServer(said, async (page) => {
    await page.waitForSelector('#flame');
    await page.focus('#flame');
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'Enter']) await page.keyboard.press(key);
    await page.waitForSelector('.breadcrumbs [aria-current]:has-text("Orders.load")');
    said.parts = WHOLE;
    said.status = {state: 'ready'};
    await page.waitForFunction(() => document.querySelector('.reading') === null);
    await page.waitForFunction(() => /50\.0/.test(document.querySelector('.breadcrumbs [aria-current]')!.textContent!));
  });
});

test('a view that asks for a part while parts are renewed gets the new one', () => {
  const said: Said = {status: {state: 'reading', done: 0.4, parts: 1}, parts: HALF};
  return withServer(said, async (page) => {
    await page.waitForSelector('.views');
    said.parts = {...WHOLE, 'profile-alloc': HALF['profile-cpu']!};
    said.status = {state: 'reading', done: 0.8, parts: 2}; // the page still shows the parts of number 1, until it asks again
    await page.click('.views a:has-text("Methods")');
    await page.waitForFunction(() => document.querySelector('table[aria-label="Methods"]')?.textContent?.includes('ksys_write'));
    assert.equal(await page.locator('[role="alert"]').count(), 0);
    said.status = {state: 'ready', parts: 2};
    await page.waitForFunction(() => document.querySelector('.reading') === null);
  }, '#view=overview');
});

test('a file that cannot be read is said in words', () => withServer(
  {status: {state: 'failed', message: 'x.jfr: not a recording <script>'}, parts: {}}, async (page) => {
    await page.waitForSelector('[role="alert"]');
    assert.match(await page.innerText('body'), /The recording cannot be shown: x\.jfr: not a recording <script>/);
  }));

test('damaged parts are said in words', () => withServer(
  {status: {state: 'ready'}, parts: {...WHOLE, 'profile-cpu': WHOLE['profile-cpu']!.slice(0, 50)}}, async (page) => {
    await page.waitForSelector('[role="alert"]');
    assert.match(await page.innerText('main'), /This profile cannot be shown: the data of this page is damaged/);
  }));

test('a server that goes away is said in words, and what was read stays', () => {
  const said: Said = {status: {state: 'reading', done: 0.4, parts: 1}, parts: HALF};
  return withServer(said, async (page, server) => {
    await page.waitForSelector('#flame');
    server.closeAllConnections?.();
    server.close();
    await page.waitForSelector('text=/The rest of the recording cannot be read: the server does not answer any more/');
    assert.ok(await page.isVisible('#flame'));
  });
});
