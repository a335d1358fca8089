// Builds dist/page.html: one file with style and script inside, and a marker where the export puts the data.
import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {build} from 'esbuild';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

async function bundle(entry) {
  const result = await build({
    entryPoints: [here(entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['es2020'],
    charset: 'ascii',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  });
  return result.outputFiles[0].text.trim();
}

const sha256 = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const script = await bundle('src/main.tsx');
const style = await bundle('src/style.css');
if (/<\/script|<!--/i.test(script)) throw new Error('the script would end its own element');
if (/<\/style/i.test(style)) throw new Error('the style would end its own element');

// Nothing may load, connect or be framed; only this very script and style run. A server that hands out the recording
// puts connect-src 'self' in the place of connect-src 'none' (src/serve/served_page.cpp).
const policy = [
  "default-src 'none'",
  `script-src ${sha256(script)}`,
  `style-src ${sha256(style)}`,
  'img-src data:',
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const parts = {policy, style, script};
const page = readFileSync(here('src/page.html'), 'utf8').replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
// Every exported file carries the page: it must stay small.
const LARGEST = 150 * 1024;
const compressed = gzipSync(page, {level: 9}).length;
if (compressed > LARGEST) throw new Error(`the page's code has ${compressed} bytes compressed, more than ${LARGEST}`);
mkdirSync(here('dist'), {recursive: true});
writeFileSync(here('dist/page.html.new'), page);
renameSync(here('dist/page.html.new'), here('dist/page.html'));
