// SPDX-License-Identifier: Apache-2.0
// The page in a browser: what operators do with it, also by keyboard only, what holds on every page, and what it costs. Nothing
// here depends on how long something takes: waits are for conditions, and measured times are printed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import { note, picture, startBrowser, waitMs, World } from './world.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const rowsDrawnMax = 80; // of any table, however long it is

let world;
let browser;

before(async () => {
  browser = await startBrowser(); // first: if the program does not start, `after` still closes it
  world = await World.start();
});
after(async () => {
  await browser?.close();
  await world?.stop();
});

/** A page; the test fails if it logs an error: a script that failed, or something that the policy of contents forbids. */
async function open(t, path, { isFaultExpected = () => false, context, ...options } = {}) {
  const own =
    context ??
    (await browser.newContext({
      viewport: { width: 1440, height: 900 },
      locale: 'en-GB',
      timezoneId: 'UTC',
      ...options,
    }));
  const page = await own.newPage();
  page.setDefaultTimeout(waitMs);
  page.asked = [];
  const faults = [];
  page.on('request', (r) => page.asked.push(r.method() + ' ' + r.url().slice(world.address.length)));
  page.on('pageerror', (e) => faults.push(e.message));
  page.on('console', (m) => m.type() === 'error' && !isFaultExpected(m.text()) && faults.push(m.text()));
  t.after(async () => {
    if (!context) await own.close();
    assert.deepEqual(faults, []);
  });
  await page.goto(world.address + (path.startsWith('#') ? path : '#/billing/' + path));
  return page;
}

const rows = (page) => page.locator('[role=row].item');
const row = (page, text) => rows(page).filter({ has: page.getByText(text, { exact: true }) });
const button = (page, name) => page.getByRole('button', { name, exact: true });
const toast = (page) => page.locator('.toasts > div').last();
const settled = (page) =>
  page.locator('[role=grid][aria-busy=false], .cards, form.config').first().waitFor({ state: 'attached' });

/** The lines of a command's dialog that the server has answered. */
const answered = (dialog) => dialog.locator('li:not(.muted)');

/** Confirms the command that the dialog is about; what is grave is typed. */
async function confirm(page, verb, typed) {
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await answered(dialog).first().waitFor();
  if (typed) await dialog.getByRole('textbox').fill(typed);
  await dialog.getByRole('button', { name: verb, exact: true }).click();
  await dialog.waitFor({ state: 'detached' }).catch(async (e) => {
    throw new Error(`${e.message}\nThe dialog says: ${await dialog.innerText()}`);
  });
}

async function give(page, verb, typed) {
  await button(page, verb).click();
  await confirm(page, verb, typed);
}

const shownIn = (page, locator, text) => locator.filter({ hasText: text }).first().waitFor();

describe('what it costs', () => {
  test('the first rows of 3,000 jobs come soon, and no more than are in sight', async (t) => {
    await settled(await open(t, 'jobs')); // the server has read the registry
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    t.after(() => context.close());
    await context.addInitScript(() => {
      new MutationObserver((_, observer) => {
        if (!document.querySelector('[role=row].item a')) return;
        observer.disconnect();
        requestAnimationFrame(() => (window.firstRowsAt = performance.now()));
      }).observe(document, { childList: true, subtree: true });
    });
    const page = await open(t, 'jobs', { context });
    await page.waitForFunction(() => window.firstRowsAt);
    const ms = await page.evaluate(() => window.firstRowsAt);
    note(t, `first rows of 3,000 jobs after ${ms.toFixed(0)} ms`);
    assert.ok(ms < 10_000, `${ms} ms`);
    await page.getByText('of 3004 rows loaded').waitFor();
    assert.ok((await rows(page).count()) < rowsDrawnMax);
    assert.equal(page.asked.filter((a) => /\/jobs\?/.test(a)).length, 1, page.asked.join('\n'));
  });

  test('a change shows at once, and asks for what has changed only', async (t) => {
    const page = await open(t, 'jobs?name=branch-0000');
    await row(page, 'branch-0000').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    const asked = page.asked.length;
    const spans = [];
    for (let n = 0; n < 5; ++n) {
      const text = `changed for the ${n + 1}. time`;
      const seen = page.evaluate(
        (wanted) =>
          new Promise((resolve) => {
            const look = () =>
              document.body.textContent.includes(wanted) && (observer.disconnect(), resolve(Date.now()));
            const observer = new MutationObserver(look);
            observer.observe(document.body, { childList: true, subtree: true, characterData: true });
            look();
          }),
        text,
      );
      const changedAt = await world.describe('branch-0000', text);
      await page.getByText(text).waitFor();
      spans.push((await seen) - changedAt);
    }
    spans.sort((a, b) => a - b);
    note(t, `a change is shown after ${spans.map((s) => s.toFixed(0)).join(', ')} ms`);
    assert.ok(spans[2] < 5_000, spans.join());
    const since = page.asked.slice(asked);
    assert.ok(since.length > 0);
    assert.deepEqual(
      since.filter((a) => !/\/jobs\/branch-0000$|\/jobs-by-health\?/.test(a)),
      [],
    );
  });

  test('an idle console sends nothing but pings', async (t) => {
    const page = await open(t, 'jobs');
    await settled(page);
    await page.getByText('live', { exact: true }).waitFor();
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    const heard = [];
    network.on('Network.eventSourceMessageReceived', (e) => heard.push(e.eventName + ' ' + e.data));
    await page.waitForFunction(() =>
      performance.getEntriesByType('resource').some((e) => e.name.includes('jobs-by-health')),
    );
    const stop = new AbortController();
    const stream = await fetch(world.address + 'api/v1/registries/billing/stream', { signal: stop.signal });
    const [asked, requests] = [page.asked.length, await world.requests()];
    let text = '';
    for await (const part of stream.body.pipeThrough(new TextDecoderStream()))
      if ((text += part).includes(': still here')) break;
    stop.abort();
    assert.deepEqual(page.asked.slice(asked), []);
    assert.deepEqual(heard, []);
    assert.equal(text.replaceAll(/: still here\n\n|retry: \d+\n\n/g, ''), '');
    assert.equal((await world.requests()) - requests, 0);
  });

  test('of 10,000 items only those in sight are loaded and drawn', async (t) => {
    const page = await open(t, 'jobs/import/items');
    await row(page, '0').waitFor();
    const asked = () => page.asked.filter((a) => a.includes('/items?'));
    assert.deepEqual(
      asked().map((a) => /limit=\d+/.exec(a)[0]),
      ['limit=100'],
    );
    assert.ok((await rows(page).count()) < rowsDrawnMax);
    assert.equal(await page.getByRole('grid').getAttribute('aria-rowcount'), '10001');
    await page.locator('.grid .body').evaluate((e) => (e.scrollTop = e.scrollHeight / 2));
    await row(page, '5010').waitFor();
    assert.ok((await rows(page).count()) < rowsDrawnMax);
    assert.ok(asked().length <= 3, asked().join('\n'));
  });

  test('of 1,000,000 rows of history only those in sight are loaded and drawn', async (t) => {
    const page = await open(t, 'history');
    await page.getByRole('heading', { name: 'History' }).waitFor();
    if (!world.databases.length) return t.skip('built without SQLite');
    await page.getByText(/^100 .*rows loaded/).waitFor();
    const asked = () => page.asked.filter((a) => a.includes('/executions?'));
    assert.equal(asked().length, 1);
    assert.ok((await rows(page).count()) < rowsDrawnMax);
    await page.locator('.grid .body').evaluate((e) => (e.scrollTop = e.scrollHeight));
    await page.getByText(/^200 .*rows loaded/).waitFor();
    assert.equal(asked().length, 2);
    assert.ok((await rows(page).count()) < rowsDrawnMax);
  });

  test('a job in the list that was due shows its next instant, without a change of the job', async (t) => {
    const page = await open(t, 'jobs?name=settle');
    const due = row(page, 'settle').locator('time').first();
    for (let n = 0; n < 2; ++n) {
      const before = await due.getAttribute('datetime');
      await page.waitForFunction(
        (old) => document.querySelector('[role=row].item time')?.getAttribute('datetime') > old,
        before,
      );
    }
  });

  test('a page over all jobs follows their changes', async (t) => {
    const page = await open(t, 'audit?job=branch-0300');
    await settled(page);
    await page.getByText('live', { exact: true }).waitFor();
    for (const verb of ['pause', 'resume']) {
      const reply = await fetch(`${world.address}api/v1/registries/billing/jobs/branch-0300/${verb}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{}',
      });
      assert.equal(reply.status, 200, await reply.text());
      await row(page, verb).waitFor();
    }
  });

  test('one stream serves all tabs, and another tab takes it over', async (t) => {
    const first = await open(t, 'jobs?name=branch-0001');
    await first.getByText('live', { exact: true }).waitFor();
    const second = await open(t, 'jobs?name=branch-0001', { context: first.context() });
    await second.getByText('live', { exact: true }).waitFor();
    await row(second, 'branch-0001').waitFor();
    const streams = (page) => page.asked.filter((a) => a.includes('/stream')).length;
    assert.deepEqual([streams(first), streams(second)], [1, 0]);
    await world.describe('branch-0001', 'heard by both');
    for (const page of [first, second]) await page.getByText('heard by both').waitFor();
    await first.close();
    await second.waitForRequest((r) => r.url().includes('/stream')).catch(() => undefined);
    await second.waitForFunction(() => document.querySelector('.live:not(.off)'));
    await world.describe('branch-0001', 'heard by the other');
    await second.getByText('heard by the other').waitFor();
  });
});

describe('what operators do', () => {
  test('find what has failed, see why, and run it again', async (t) => {
    const page = await open(t, 'jobs');
    await page.getByLabel('Filter by: Last round').selectOption('failed');
    await page.waitForURL(/last_round=failed/);
    // Every round of this job fails, and while the next one runs, the job is not among them.
    for (let n = 0; n < 20 && !(await row(page, 'settle').count()); ++n) {
      await page.reload();
      await settled(page);
    }
    await page.getByText('1 row', { exact: true }).waitFor();
    await row(page, 'settle').click();
    await page.locator('.timeline rect.bad').first().waitFor();
    await page.goto(world.address + '#/billing/jobs/alarm');
    await give(page, 'Trigger');
    await toast(page).waitFor();
    await page.getByRole('link', { name: 'Items 4' }).click();
    await row(page, '3').locator('[aria-label^=failed]').first().waitFor();
    await row(page, '3').press('Enter');
    await page.getByText('refused the connection').first().waitFor();
    await shownIn(page, page.locator('section.card'), 'Explanation');
    await page.getByRole('link', { name: 'Dead letters', exact: true }).last().click();
    await rows(page).first().getByRole('checkbox').check();
    await give(page, 'Run again');
    await toast(page).waitFor();
    await page.getByRole('link', { name: 'Audit', exact: true }).last().click();
    await shownIn(page, rows(page), 'run again');
    await shownIn(page, rows(page), 'ann');
  });

  test('trigger while it runs, and while nobody runs it', async (t) => {
    const page = await open(t, 'jobs/report', { isFaultExpected: (text) => /40[49]/.test(text) });
    await give(page, 'Trigger');
    await page.goto(world.address + '#/billing/jobs/report/items/0');
    await page.getByText('running', { exact: true }).first().waitFor();
    await button(page, 'Trigger').click();
    await page.getByRole('dialog').getByText('Refused').waitFor(); // visibly, and before anything is written
    await page.keyboard.press('Escape');
    await button(page, 'Stop the run').click();
    await confirm(page, 'Stop the run');
    await page.goto(world.address + '#/billing/jobs/branch-0002');
    await page.getByRole('heading', { name: 'branch-0002' }).waitFor();
    await button(page, 'Trigger').click();
    await page.getByRole('dialog').getByText('Refused').waitFor();
    assert.equal(await page.getByRole('dialog').getByRole('button', { name: 'Trigger' }).isDisabled(), true);
  });

  test('repeat a command whose outcome is unknown: it has no second effect', async (t) => {
    const page = await open(t, 'jobs/alarm', { isFaultExpected: (text) => /503/.test(text) });
    const keys = [];
    await page.route(/\/pause$/, async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      const answer = await route.fetch(); // the server carries it out
      const body = JSON.stringify({ code: 'unknown_outcome', detail: 'the reply was lost' });
      const lost = { status: 503, contentType: 'application/problem+json', body };
      await route.fulfill(keys.length === 1 ? lost : { response: answer });
    });
    await button(page, 'Pause').click();
    const dialog = page.getByRole('dialog');
    await answered(dialog).first().waitFor();
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    await dialog.getByText('the reply was lost').waitFor();
    assert.equal(await dialog.getByText('Refused').count(), 0);
    await dialog.getByRole('button', { name: 'Repeat', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(keys.length, 2);
    assert.equal(keys[0], keys[1]);
    await give(page, 'Resume');
    await page.getByRole('link', { name: 'Audit', exact: true }).last().click();
    await shownIn(page, rows(page), 'resume');
    assert.equal(await rows(page).filter({ hasText: 'pause' }).count(), 1);
  });

  test('pause and resume a job, a server, and a server in one job', async (t) => {
    const page = await open(t, 'jobs/report');
    await give(page, 'Pause');
    await page.locator('.head').getByText('paused', { exact: true }).waitFor();
    await page.goto(world.address + '#/billing/jobs');
    await page.getByRole('button', { name: /^paused/ }).click();
    await row(page, 'report').getByText('paused', { exact: true }).waitFor();
    await page.getByText('1 row', { exact: true }).waitFor();
    await row(page, 'report').getByRole('checkbox').check();
    await give(page, 'Resume');
    await page.goto(world.address + '#/billing/jobs/report');
    await button(page, 'Pause').waitFor();
    await page.goto(world.address + '#/billing/servers');
    await row(page, '10.0.0.2').getByRole('checkbox').check();
    await give(page, 'Pause');
    await page.goto(world.address + '#/billing/servers/10.0.0.2');
    await row(page, 'report').getByText('paused', { exact: true }).waitFor();
    await row(page, 'report').getByRole('checkbox').check();
    await page.getByRole('region', { name: '1 selected' }).getByRole('button', { name: 'Resume' }).click();
    await confirm(page, 'Resume');
    await row(page, 'report').getByText('ok', { exact: true }).waitFor();
    await row(page, 'import').getByText('paused', { exact: true }).waitFor();
    await give(page, 'Resume');
    await row(page, 'import').getByText('ok', { exact: true }).waitFor();
  });

  test('change one field: it is refused, or said in words and planned before it is saved', async (t) => {
    const page = await open(t, 'jobs/report/configuration', { isFaultExpected: (text) => text.includes('412') });
    const cron = page.getByLabel('Cron expression');
    await cron.fill('0 0 25 * * ?');
    await page.locator('#field-cron-fault').waitFor();
    assert.equal(await button(page, 'Review the change…').isDisabled(), true);
    await cron.fill('0 15 6 ? * MON-FRI');
    await page.getByText('at 06:15 on Monday through Friday').or(page.getByText(/06:15/)).first().waitFor();
    await page.getByLabel('Number of items').fill('8');
    await page.getByText('What the change would move').waitFor();
    assert.equal(await page.locator('.side-panel ol li').count(), 5);
    await button(page, 'Review the change…').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('0 15 6 ? * MON-FRI').first().waitFor();
    const configuration = /\/jobs\/report\/configuration$/;
    await page.route(configuration, async (route) => {
      if (route.request().method() === 'GET') await new Promise((resolve) => setTimeout(resolve, 1500));
      await route.continue();
    });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Items 8' }).waitFor();

    // The answer with the saved configuration comes late, and takes nothing away that was typed before it.
    await page.getByLabel('Description').fill('mine');
    await page.unroute(configuration);
    await world.describe('report', 'theirs');
    await button(page, 'Review the change…').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody else has changed the configuration').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Read it anew' }).click();
    await page.waitForFunction(() => document.querySelector('#field-description')?.value === 'theirs');
  });

  test('act on many jobs at once', async (t) => {
    const page = await open(t, 'jobs?name=branch-010');
    await row(page, 'branch-0100').waitFor();
    await page.getByLabel('Select all rows that are loaded').check();
    await page.getByRole('region', { name: '10 selected' }).waitFor();
    await give(page, 'Pause');
    await shownIn(page, page.locator('.toasts'), '10 of 10 were carried out.');
    await page.locator('.item .chip', { hasText: 'paused' }).nth(9).waitFor();
    await page.getByLabel('Select all rows that are loaded').check();
    await give(page, 'Resume');
  });

  test('remove a job, and restore its name', async (t) => {
    const page = await open(t, 'jobs/branch-0200', { isFaultExpected: (text) => /40[49]/.test(text) });
    await button(page, 'Remove').click();
    const dialog = page.getByRole('dialog');
    await answered(dialog).first().waitFor();
    assert.equal(await dialog.getByRole('button', { name: 'Remove' }).isDisabled(), true);
    await confirm(page, 'Remove', 'branch-0200');
    await page.getByText('The job branch-0200 was removed').waitFor();
    await page.goto(world.address + '#/billing/jobs?name=branch-020');
    await row(page, 'branch-0201').waitFor();
    assert.equal(await row(page, 'branch-0200').count(), 0);
    await page.getByRole('link', { name: 'Removed jobs' }).click();
    await row(page, 'branch-0200').getByRole('checkbox').check();
    await give(page, 'Restore the name');
    await page.getByText('There is nothing here.').waitFor();
  });

  test('remove a server that is gone', async (t) => {
    const page = await open(t, 'servers?name=10.0.0.9');
    await row(page, '10.0.0.9').getByRole('checkbox').check();
    await give(page, 'Remove', '10.0.0.9');
    await page.getByText('0 of 2').waitFor();
  });

  test('switch between registries and between databases', async (t) => {
    const page = await open(t, '#/');
    await row(page, 'alarm').waitFor();
    await page.getByLabel('Registry', { exact: true }).selectOption('payroll');
    await row(page, 'archive').waitFor();
    assert.equal(await rows(page).count(), 1);
    assert.match(page.url(), /#\/payroll\/jobs$/);
    await page.reload();
    await row(page, 'archive').waitFor();
    await page.goto(world.address + '#/billing/history');
    await page.getByRole('heading', { name: 'History' }).waitFor();
    const source = page.getByLabel('Source', { exact: true });
    if (world.databases.length) {
      await source.selectOption('archive');
      await row(page, 'yearly').first().waitFor();
      await page.getByText('2 rows', { exact: true }).waitFor();
      assert.match(page.url(), /database=archive/);
    }
    await page.goto(world.address + '#/billing/jobs/settle/history?records=1');
    await rows(page).getByText('success', { exact: true }).first().waitFor();
    await page.goto(world.address + '#/billing/registries');
    await page.getByText('eu/payroll').waitFor();
  });

  test('see what is due next, and why an item ran at an instant', async (t) => {
    const page = await open(t, 'upcoming?name=import');
    await row(page, 'import').first().waitFor();
    await page.goto(world.address + '#/billing/jobs/settle/items/0');
    await page.getByLabel('For the instant').fill('2020-01-01T00:00:05');
    await page.waitForURL(/instant=2020-01-01T00/);
    await shownIn(page, page.locator('section.card'), '2020');
  });

  test('send an address to somebody else, who sees the same', async (t) => {
    const page = await open(t, 'jobs');
    await page.getByRole('searchbox', { name: 'Filter by: Name' }).fill('branch-00');
    await button(page, 'Items').click();
    await button(page, 'Items').click();
    await page.waitForURL(/sort=-items/);
    const names = () => rows(page).locator('a').allTextContents();
    await page.waitForFunction(() => document.querySelector('[role=row].item a')?.textContent === 'branch-0099');
    const other = await open(t, page.url().slice(world.address.length));
    await row(other, 'branch-0099').waitFor();
    assert.deepEqual((await rows(other).locator('a').allTextContents()).slice(0, 5), (await names()).slice(0, 5));
    assert.equal(await other.getByRole('searchbox', { name: 'Filter by: Name' }).inputValue(), 'branch-00');
  });
});

describe('by keyboard only', () => {
  /** Tab until it has the focus. */
  async function tabTo(page, locator, key = 'Tab') {
    for (let n = 0; n < 60; ++n) {
      if (await locator.evaluate((e) => e === document.activeElement).catch(() => false)) return;
      await page.keyboard.press(key);
    }
    assert.fail('Tab does not get there');
  }

  test('filter, open, select and command jobs', async (t) => {
    const page = await open(t, 'jobs');
    await settled(page);
    await page.keyboard.press('/');
    await page.keyboard.type('branch-030');
    await row(page, 'branch-0300').waitFor();
    await page.waitForURL(/name=branch-030/);
    await tabTo(page, rows(page).first());
    for (const key of ['Space', 'ArrowDown', 'x', 'j', 'k']) await page.keyboard.press(key);
    const bar = page.getByRole('region', { name: '2 selected' });
    await tabTo(page, bar.getByRole('button', { name: 'Pause' }));
    await page.keyboard.press('Enter');
    await answered(page.getByRole('dialog')).nth(1).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.locator('.item .chip', { hasText: 'paused' }).nth(1).waitFor();
    await tabTo(page, page.locator('.item.active'), 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /branch-030/ }).waitFor();
    await page.waitForFunction(() => document.activeElement.tagName === 'MAIN');
  });

  test('go to every page, get help, and leave a dialog where it began', async (t) => {
    const page = await open(t, 'jobs');
    await settled(page);
    for (const [key, title] of Object.entries({
      s: 'Servers',
      u: 'Upcoming',
      d: 'Dead letters',
      h: 'History',
      a: 'Audit',
      r: 'Registries',
      j: 'Jobs',
    })) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
    }
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('this help').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await rows(page).first().waitFor();
    await tabTo(page, rows(page).first());
    await page.keyboard.press('Space');
    const disable = page.getByRole('region').getByRole('button', { name: 'Disable' });
    await tabTo(page, disable);
    await page.keyboard.press('Enter');
    await answered(page.getByRole('dialog')).first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('region').locator('button:focus', { hasText: 'Disable' }).waitFor();
  });

  test('skip to the content, and walk through a long table', async (t) => {
    const page = await open(t, 'jobs/import/items');
    await row(page, '0').waitFor();
    await page.keyboard.press('Tab');
    await page.waitForFunction(() => document.activeElement.textContent === 'Skip to the content');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement.tagName === 'MAIN');
    await tabTo(page, rows(page).first());
    await page.keyboard.press('End');
    await row(page, '9999').waitFor();
    await page.waitForFunction(() => document.activeElement.getAttribute('aria-rowindex') === '10001');
    await page.keyboard.press('PageUp');
    await page.keyboard.press('Home');
    await page.waitForFunction(() => document.activeElement.getAttribute('aria-rowindex') === '2');
  });
});

describe('for every reader', () => {
  const views = {
    jobs: 'jobs',
    filtered: 'jobs?name=branch-01&sort=-items',
    overview: 'jobs/settle',
    items: 'jobs/settle/items',
    instances_grid: 'jobs/settle/items?view=instances',
    item: 'jobs/settle/items/3',
    instances: 'jobs/settle/instances',
    configuration: 'jobs/report/configuration',
    letters: 'jobs/settle/dead-letters',
    new_job: 'new-job',
    servers: 'servers',
    server: 'servers/10.0.0.1',
    upcoming: 'upcoming',
    dead_letters: 'dead-letters',
    history: 'history',
    audit: 'audit',
    registries: 'registries',
    removed: 'removed',
  };
  // Any two of the three choices meet in each of their values.
  const readers = [
    { scheme: 'light', size: 'desk', language: 'en' },
    { scheme: 'dark', size: 'desk', language: 'zh' },
    { scheme: 'dark', size: 'phone', language: 'en' },
    { scheme: 'light', size: 'phone', language: 'zh' },
  ];
  const sizes = {
    desk: { viewport: { width: 1440, height: 900 } },
    phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
  };

  for (const { scheme, size, language } of readers)
    test(`no fault of access: ${scheme}, ${size}, ${language}`, async (t) => {
      const page = await open(t, 'jobs', {
        ...sizes[size],
        colorScheme: scheme,
        locale: language === 'zh' ? 'zh-CN' : 'en-GB',
        bypassCSP: true, // for axe only
      });
      await page.evaluate(axe);
      assert.equal(await page.evaluate(() => document.documentElement.lang), language === 'zh' ? 'zh-CN' : 'en');
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), scheme);
      for (const [name, path] of Object.entries(views)) {
        await page.evaluate((hash) => (location.hash = hash), '#/billing/' + path);
        await page.waitForFunction(() => document.querySelector('main h1, main .config, main .tabs'));
        await settled(page);
        await page.waitForFunction(() => !document.querySelector('.ghost, [aria-busy=true]'));
        await picture(page, `${name}-${scheme}-${size}-${language}`);
        const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
        const told = found.violations.flatMap((v) =>
          v.nodes.map((n) => `${name}: ${v.id} ${n.target} ${n.failureSummary}`),
        );
        assert.deepEqual(told, []);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= sizes[size].viewport.width, `${name} is ${wide} pixels wide`);
      }
    });

  test('a dialog has no fault of access, and says what would happen', async (t) => {
    const page = await open(t, 'jobs/settle', { bypassCSP: true });
    await page.evaluate(axe);
    await button(page, 'Shut down').click();
    await answered(page.getByRole('dialog', { name: 'Shut down: settle?' })).first().waitFor();
    await picture(page, 'dialog');
    const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    assert.deepEqual(
      found.violations.map((v) => v.id + ' ' + v.nodes.map((n) => n.target)),
      [],
    );
  });

  test('the picture in the README', async (t) => {
    const page = await open(t, 'jobs/settle/items', { viewport: { width: 1200, height: 480 } });
    await page.waitForFunction(() => document.querySelectorAll('.item .o:not(.gap)').length >= 60);
    await page.getByText('live', { exact: true }).waitFor();
    const png = await picture(page, 'console'); // copy it to docs/images when the page has changed
    assert.ok(png.length <= 150_000, `${png.length} bytes`);
  });

  test('what the reader has chosen stays chosen', async (t) => {
    const page = await open(t, 'jobs/report', { timezoneId: 'Asia/Tokyo' });
    const due = page.locator('.cards ol time').first();
    const hour = async () => (await due.textContent()).match(/(\d\d):\d\d/)[1];
    await due.waitFor();
    const here = await hour();
    await page.getByLabel('Times in').selectOption('job');
    const there = await hour();
    await page.getByLabel('Times in').selectOption('utc');
    assert.equal(new Set([here, there, await hour()]).size, 3);
    await page.getByLabel('Theme').selectOption('dark');
    await page.getByLabel('Language').selectOption('zh');
    await page.getByRole('link', { name: '概览' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: '概览' }).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    assert.equal(await page.getByLabel('时区').inputValue(), 'utc');
  });

  test('what operators write is text, never part of the page', async (t) => {
    const page = await open(t, 'jobs?name=branch-0004');
    await row(page, 'branch-0004').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    const text = '<img src=x onerror=alert(1)><script>alert(2)</script>';
    await world.describe('branch-0004', text);
    await page.getByText(text).waitFor();
    assert.equal(await page.locator('img, main script').count(), 0);
  });

  test('every address is below that of the page', async (t) => {
    const page = await open(t, 'jobs');
    await settled(page);
    const asked = await page.evaluate(() => performance.getEntriesByType('resource').map((e) => e.name));
    assert.ok(asked.length > 4);
    assert.deepEqual(
      asked.filter((a) => !a.startsWith(world.address)),
      [],
    );
  });
});

describe('with passwords', () => {
  before(() => world.serveWithPasswords(true));
  after(() => world.serveWithPasswords(false));

  test('an operator signs in, sees only what the role allows, and signs out', async (t) => {
    const page = await open(t, 'jobs/settle', { isFaultExpected: (text) => text.includes('401') });
    await page.getByLabel('Operator').fill('ann');
    await page.getByLabel('Password').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('the name or the password is wrong').waitFor();
    await picture(page, 'sign-in');
    await page.getByLabel('Password').fill('secret');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'settle' }).waitFor();
    for (const verb of ['Trigger', 'Pause', 'Shut down', 'Remove']) assert.equal(await button(page, verb).count(), 0);
    await page.getByText('live', { exact: true }).waitFor();
    await button(page, 'Sign out').click();
    await page.getByLabel('Password').waitFor();
    const asked = page.asked.length;
    await page.getByLabel('Operator').fill('ann');
    assert.deepEqual(page.asked.slice(asked), []); // and nothing goes on asking
  });
});
