// Compiles the unit tests and runs them with node's own test runner.
import {spawnSync} from 'node:child_process';
import {readdirSync, rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = fileURLToPath(new URL('../dist/test/', import.meta.url));
const tests = readdirSync(here).filter((name) => name.endsWith('.test.ts'));
rmSync(out, {recursive: true, force: true});
await build({
  entryPoints: tests.map((name) => here + name),
  outdir: out,
  outExtension: {'.js': '.mjs'},
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node18',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'warning',
});
const files = tests.map((name) => out + name.replace(/\.ts$/, '.mjs'));
const {status} = spawnSync(process.execPath, ['--test', ...files], {stdio: 'inherit', cwd: fileURLToPath(new URL('..', import.meta.url))});
process.exit(status ?? 1);
