// What the browser tests share: one Chromium, pages opened from disk as users do, and eyes for what they show.
import assert from 'node:assert/strict';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {after, before} from 'node:test';
import {chromium, type BrowserContext, type Page} from 'playwright-core';
import {writePages} from './pages';

export const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
                      '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const folder = mkdtempSync(`${tmpdir()}/tarsier-page-`);
let context: BrowserContext;
export let pages: Record<string, string> = {};

before(async () => {
  pages = writePages(`${folder}/pages`);
  context = await chromium.launchPersistentContext(`${folder}/profile`, {
    executablePath: process.env['CHROMIUM']!, args: FLAGS, viewport: {width: 1280, height: 800},
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(10_000);
});
after(async () => {
  await context?.close();
  rmSync(folder, {recursive: true, force: true});
});

// Every test also asserts that the page says nothing on the console and asks for nothing but itself.
export async function withPage(name: string, fragment: string, check: (page: Page) => Promise<void>): Promise<void> {
  const page = await context.newPage();
  const complaints: string[] = [];
  const url = `file://${pages[name]}`;
  page.on('console', (message) => {
    if (message.text().includes('getImageData')) return; // our own reading of colours
    complaints.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const asked = request.url().split('#')[0]!;
    if (asked !== url && asked !== 'data:,' && !asked.startsWith('blob:')) complaints.push(`request: ${asked}`);
  });
  try {
    await page.goto(`${url}#${fragment}`);
    await page.waitForSelector('main');
    if (fragment.includes('view=')) await page.waitForSelector('[data-main], .empty');
    await check(page);
    assert.deepEqual(complaints, []);
  } finally {
    await page.close();
  }
}

export const plain = (text: string): string => text.replace(/\u202f/g, ' ');
export const statusOf = async (page: Page): Promise<string> => (await page.innerText('#selection')).replace(/\u202f/g, ' ');
export const foundOf = async (page: Page): Promise<string> => (await page.innerText('#search-result')).replace(/\u202f/g, ' ');
export const zoomOf = async (page: Page): Promise<string> =>
  (await page.innerText('.breadcrumbs [aria-current]')).replace(/\u202f/g, ' ');

// The middle of a share of a row, rows counted from the root (at the bottom unless the root is at the top).
export async function pointAt(page: Page, row: number, share: number, rootAtTop = false): Promise<{x: number; y: number}> {
  const box = (await page.locator('#flame canvas').boundingBox())!;
  return {x: box.x + box.width * share, y: rootAtTop ? box.y + row * 18 + 9 : box.y + box.height - row * 18 - 9};
}
export async function clickAt(page: Page, row: number, share: number): Promise<void> {
  const {x, y} = await pointAt(page, row, share);
  await page.mouse.click(x, y);
}
export async function colourAt(page: Page, row: number, share: number): Promise<string> {
  const {x, y} = await pointAt(page, row, share);
  return page.evaluate(([px, py]) => {
    const canvas = document.querySelector<HTMLCanvasElement>('#flame canvas')!;
    const box = canvas.getBoundingClientRect();
    const data = canvas.getContext('2d')!.getImageData((px! - box.left) * devicePixelRatio,
      (py! - box.top) * devicePixelRatio, 1, 1).data;
    return `#${[...data.slice(0, 3)].map((value) => value.toString(16).padStart(2, '0')).join('')}`;
  }, [x, y]);
}
