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

/** What axe finds. */
async function faultsOfAccess(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.map((v) => `${page.url()}: ${v.id}: ${v.nodes.map((n) => n.html.slice(0, 200)).join(' ')}`);
}

/** Waits until the page shows what it has asked for. */
async function settled(page) {
  await page.locator('main').waitFor();
  await page.waitForFunction(() => {
    const main = document.querySelector('main');
    return main.childElementCount > 0 && !main.querySelector('[aria-busy="true"], .ghost') && !main.textContent.includes('Loading…');
  });
}

const pages = [
  'jobs', 'jobs/settle', 'jobs/settle/items', 'jobs/settle/items?view=instances', 'jobs/settle/items/3', 'jobs/settle/instances',
  'jobs/settle/configuration', 'jobs/settle/dead-letters', 'jobs/settle/audit', 'new-job', 'servers', 'servers/10.0.0.1', 'upcoming',
  'dead-letters', 'history', 'audit', 'registries',
];

describe('every page', () => {
  const looks = {
    light: {},
    dark: { colorScheme: 'dark' },
    phone: { viewport: { width: 390, height: 844 } },
    chinese: { locale: 'zh-CN', colorScheme: 'dark' },
  };
  for (const [look, options] of Object.entries(looks))
    test(`fits the window, can be read aloud and has enough contrast: ${look}`, async (t) => {
      const page = await open(t, 'jobs', options);
      const faults = [];
      for (const path of pages) {
        await page.goto(world.address + '#/main/' + path);
        await settled(page);
        assert.equal(await page.getByRole('alert').count(), 0, path);
        const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(width <= 0, `${path} is wider than the window`);
        faults.push(...(await faultsOfAccess(page)));
        await picture(page, `${look}-${path.replace(/[/?=]/g, '-')}`);
      }
      assert.deepEqual(faults, []);
    });
});

describe('the list of jobs', () => {
  test('loads what is in sight, and the rest when it is scrolled to', async (t) => {
    const page = await open(t, 'jobs');
    await rows(page).first().waitFor();
    assert.ok((await rows(page).count()) < 100);
    await rows(page).first().focus();
    for (let i = 0; i < 4; ++i) await page.keyboard.press('End');
    await page.waitForFunction(() => Number(document.querySelector('[role=row].active')?.ariaRowIndex) > 150);
    assert.ok((await rows(page).count()) < 100);
  });

  test('is filtered by columns and by counters, and the address keeps both', async (t) => {
    const page = await open(t, 'jobs');
    await page.getByLabel('Filter by: Name', { exact: true }).first().fill('job-01');
    await page.waitForFunction(() => document.querySelector('main').textContent.includes('100'));
    await page.getByRole('button', { name: /^no instances/ }).click();
    assert.match(page.url(), /name=job-01/);
    assert.match(page.url(), /health=no_instances/);
    const again = await open(t, '', { context: page.context() });
    await again.goto(page.url());
    await row(again, 'job-0100').waitFor();
    assert.equal(await again.getByRole('button', { name: /^no instances/ }).getAttribute('aria-pressed'), 'true');
    assert.equal(await row(again, 'job-0200').count(), 0);
  });
});
