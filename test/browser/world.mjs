// SPDX-License-Identifier: Apache-2.0
// The program that serves the page to the tests, and the browser that they look at it with. ELASTICJOB_WORLD and
// ELASTICJOB_BROWSER are the two programs; pictures and figures go to ELASTICJOB_OUTPUT.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

export const waitMs = 20_000; // the longest that a condition may take on a busy machine
const startMs = 120_000;
const output = process.env.ELASTICJOB_OUTPUT ?? '.';
const pictures = join(output, 'pictures');

/** The program, which obeys lines: see world.cpp. */
export class World {
  static async start() {
    const world = new World();
    world.directory = mkdtempSync(join(tmpdir(), 'browser-world-'));
    world.process = spawn(process.env.ELASTICJOB_WORLD, [world.directory], { stdio: ['pipe', 'pipe', 'inherit'] });
    world.lines = createInterface({ input: world.process.stdout })[Symbol.asyncIterator]();
    await world.#hearAddress(startMs);
    return world;
  }
  async #hear(ms) {
    let timer;
    const limit = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error('the program said nothing')), ms);
    });
    const line = await Promise.race([this.lines.next(), limit]).finally(() => clearTimeout(timer));
    assert.equal(line.done, false, 'the program has ended');
    return line.value;
  }
  async #hearAddress(ms = waitMs) {
    const [word, address] = (await this.#hear(ms)).split(' ');
    assert.equal(word, 'serves');
    this.address = address;
    const reply = await fetch(address + 'api/v1/registries');
    this.databases = reply.ok ? (await reply.json()).databases : [];
  }
  #say(line) {
    this.process.stdin.write(line + '\n');
  }

  /** Gives a job another description. Returns the time of day, in milliseconds, just before. */
  async describe(job, text) {
    this.#say(`describe ${job} ${text}`);
    const [word, at] = (await this.#hear(waitMs)).split(' ');
    assert.equal(word, 'done');
    return Number(at);
  }
  /** How many requests the registries have had from the console. */
  async requests() {
    this.#say('requests');
    return Number((await this.#hear(waitMs)).split(' ')[1]);
  }
  /** Serves anew, at another address. */
  async serveWithPasswords(asks) {
    this.#say('sign-in ' + (asks ? 'on' : 'off'));
    await this.#hearAddress();
  }
  async stop() {
    const ended = new Promise((resolve) => this.process.on('exit', resolve));
    this.process.stdin.end();
    assert.equal(await ended, 0);
    rmSync(this.directory, { recursive: true });
  }
}

export async function startBrowser() {
  mkdirSync(pictures, { recursive: true });
  writeFileSync(join(output, 'figures.txt'), '');
  // As root there is no sandbox. What is loaded comes from the program above only.
  return chromium.launch({ executablePath: process.env.ELASTICJOB_BROWSER, args: ['--no-sandbox'] });
}

/** Prints a measured value, and keeps it. */
export function note(t, text) {
  t.diagnostic(text);
  appendFileSync(join(output, 'figures.txt'), text + '\n');
}

export const picture = (page, name) => page.screenshot({ path: join(pictures, name + '.png') });
