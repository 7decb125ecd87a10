// SPDX-License-Identifier: Apache-2.0
// The page in a browser, against a real server on a real registry: what operators do with it, also by keyboard only, and what
// holds on every page. ELASTICJOB_CONSOLE is the program that serves it (world.cpp says how it is spoken to), ELASTICJOB_BROWSER
// the browser. Pictures and measured times go to ELASTICJOB_OUTPUT.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';

const output = process.env.ELASTICJOB_OUTPUT ?? 'output';
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const waitMs = 20_000;

/** The program that serves the page, with a registry, jobs and instances. */
class World {
  static async start() {
    const world = new World();
    world.process = spawn(process.env.ELASTICJOB_CONSOLE, { stdio: ['pipe', 'pipe', 'inherit'] });
    world.lines = [];
    world.waiting = [];
    createInterface({ input: world.process.stdout }).on('line', (line) => {
      const next = world.waiting.shift();
      if (next) next(line);
      else world.lines.push(line);
    });
    const [word, address] = (await world.hear(180_000)).split(' ');
    assert.equal(word, 'serves');
    world.address = address;
    return world;
  }
  hear(ms = waitMs) {
    const line = this.lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the program said nothing')), ms);
      this.waiting.push((text) => {
        clearTimeout(timer);
        resolve(text);
      });
    });
  }
  /** What the program answers. */
  ask(line) {
    this.process.stdin.write(line + '\n');
    return this.hear();
  }
  stop() {
    this.process.stdin.end();
    return new Promise((resolve) => this.process.on('exit', resolve));
  }
}

let world;
let browser;

before(async () => {
  mkdirSync(output, { recursive: true });
  writeFileSync(join(output, 'figures.txt'), '');
  world = await World.start();
  browser = await chromium.launch({ executablePath: process.env.ELASTICJOB_BROWSER, args: ['--no-sandbox'] });
});
after(async () => {
  await browser?.close();
  await world?.stop();
});

function note(text) {
  appendFileSync(join(output, 'figures.txt'), text + '\n');
}

/** A page; the test fails if it logs an error: a script that failed, or something that the policy of contents forbids. */
async function open(t, path, options = {}) {
  const context = options.context ?? (await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', ...options }));
  const page = await context.newPage();
  page.setDefaultTimeout(waitMs);
  const faults = [];
  page.on('pageerror', (e) => faults.push(e.message));
  page.on('console', (m) => m.type() === 'error' && !options.faultsExpected && faults.push(m.text()));
  t.after(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
  await page.goto(world.address + '#/main/' + path);
  return page;
}

const rows = (page) => page.locator('[role=row].item');
const row = (page, name) => rows(page).filter({ has: page.getByText(name, { exact: true }) });
const picture = (page, name) => page.screenshot({ path: join(output, name + '.png') });
