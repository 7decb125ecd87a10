// SPDX-License-Identifier: Apache-2.0
// What the server offers (docs/openapi.json), as the page uses it. Names of the interface are in this file only.
import { ask, type Page } from './api';
import type { Effect } from './command';
import { Cell, place } from './store';

const root = 'api/v1';

/** The path of something in the registry that is shown. */
export function at(...path: (string | number)[]): string {
  return [root, 'registries', place.get().registry, ...path]
    .map((part, i) => (i ? encodeURIComponent(part) : part))
    .join('/');
}

export interface Registry {
  name: string;
  isConnected?: boolean;
  detail: string;
}
export const registries = new Cell<Registry[]>([]);
export const databases = new Cell<string[]>(['main']);
export const me = new Cell<{ name: string; version: string; verbs?: string[] }>({ name: '', version: '' });

/** Whether to offer it. The server decides again. */
export function allowed(_: string): boolean {
  return true;
}

export async function meets(): Promise<void> {
  const [who, all] = await Promise.all([
    ask<Record<string, string>>(root + '/me'),
    ask<{ registries: Registry[] }>(root + '/registries'),
  ]);
  me.set({ name: who.body.operator ?? '', version: who.body.version ?? '' });
  registries.set(all.body.registries);
}

export const streamKinds = ['job', 'reset'];
export function streamPath(): string {
  return at('stream');
}

export const healthsOfJobs = ['ok', 'orphaned', 'unowned', 'sharding_due', 'disabled', 'no_instances', 'unreadable'];
export const healthsOfItems = [
  'running',
  'retrying',
  'interrupted',
  'orphaned',
  'unowned',
  'disabled',
  'idle',
  'unreadable',
];

export interface JobRow {
  name: string;
  status: string;
  health: string;
  fault?: string | undefined;
  schedule: string;
  description: string;
  itemCount: number;
  instanceCount: number;
  nextDue?: string | undefined;
  zone: string;
  last?: { outcome: string; at: string } | undefined;
}
export interface JobDetail extends JobRow {
  inWords: string;
  dues: string[];
}
export interface JobCounts {
  all: number;
  byHealth: Record<string, number>;
}
export interface Entry {
  due: string;
  outcome: string;
  begun?: string | undefined;
  ended?: string | undefined;
  attempt: number;
  count: number;
  instance: string;
  note: string;
}
export interface ItemRow {
  item: number;
  owner: string;
  health: string;
  fault?: string | undefined;
  isFailover: boolean;
  isDisabled: boolean;
  progress: string;
  nextDue?: string | undefined;
  running?: { due: string; begun: string; attempt: number } | undefined;
  retry?: { at: string; attempt: number } | undefined;
  deadLetters: number;
  ledger: Entry[];
}
export interface InstanceRow {
  id: string;
  server: string;
  isJava: boolean;
  isLeader: boolean;
  isDisabled: boolean;
  isLeftOver: boolean;
  isTriggered: boolean;
  weight: number;
  labels: string;
  itemCount: number;
}
export interface Round {
  due: string;
  begun?: string | undefined;
  ended?: string | undefined;
  outcome: string;
}
export interface ServerRow {
  server: string;
  instances: number;
  jobs: number;
  disabled: number;
  idle: number;
}
export interface ServerInJob {
  job: string;
  isDisabled: boolean;
  instances: string[];
}
export interface Due {
  job: string;
  due: string;
  zone: string;
}
export interface DeadLetter {
  job: string;
  item: number;
  due: string;
  ended: string;
  attempt: number;
  instance: string;
  note: string;
}
export interface AuditRow {
  job: string;
  number: number;
  at: string;
  operator: string;
  verb: string;
  subject: string;
  outcome: string;
  note: string;
}
export interface HistoryRow {
  id: string;
  job: string;
  item: number;
  outcome: string; // success, failure, running
  began: string;
  ended?: string | undefined;
  server: string;
  host: string;
  source: string;
  note: string;
}
export interface StateRow {
  id: string;
  job: string;
  items: string;
  state: string;
  at: string;
  server: string;
  note: string;
}

type Json = Record<string, unknown>;

export function jobPage(
  q: Record<string, string>,
  signal: AbortSignal,
): Promise<Page<JobRow> & { counts?: JobCounts }> {
  return ask<{ jobs: Json[]; next?: string; total?: number; counts?: Json }>(at('jobs'), {
    query: { ...q, limit: '100' },
    signal,
  }).then((a) => ({
    rows: a.body.jobs.map(toJobRow),
    next: a.body.next ?? '',
    total: a.body.total,
    counts: a.body.counts as unknown as JobCounts,
  }));
}
export async function jobCounts(_: Record<string, string>): Promise<JobCounts | undefined> {
  return undefined;
}
export async function jobRow(name: string): Promise<JobRow> {
  return toJobRow((await ask<Json>(at('jobs', name))).body);
}
function toJobRow(j: Json): JobRow {
  return j as unknown as JobRow;
}
export function toJob(b: unknown): JobDetail {
  return b as JobDetail;
}
export function toRounds(b: unknown): Round[] {
  return b as Round[];
}
export function toExplanation(b: unknown): string {
  return (b as { text: string }).text;
}
export function toInstances(b: unknown): InstanceRow[] {
  return (b as { instances: InstanceRow[] }).instances;
}
export function toServers(b: unknown): ServerRow[] {
  return b as ServerRow[];
}
export function toServer(b: unknown): ServerInJob[] {
  return b as ServerInJob[];
}
export async function itemPage(
  job: string,
  q: { first: number; count: number; health: string; owner: string },
  signal: AbortSignal,
): Promise<{ rows: ItemRow[]; total: number; counts?: Record<string, number> }> {
  const a = await ask<{ items: ItemRow[]; total: number; counts: Record<string, number> }>(at('jobs', job, 'items'), {
    query: { first: String(q.first), limit: String(q.count), health: q.health, owner: q.owner },
    signal,
  });
  return { rows: a.body.items, total: a.body.total, counts: a.body.counts };
}
export type ItemCommand = 'trigger' | 'disable' | 'enable' | 'stop';
export type ServerCommand = 'disable' | 'enable' | 'shut-down' | 'remove';
async function effect(path: string, verb: string, key: string, dry: boolean, signal: AbortSignal): Promise<Effect> {
  return (
    await ask<Effect>(path + '/' + verb, {
      method: 'POST',
      body: {},
      key,
      query: dry ? { dry_run: 'true' } : {},
      signal,
    })
  ).body;
}
export const commandOnJob = (job: string, verb: string, key: string, dry: boolean, signal: AbortSignal) =>
  effect(at('jobs', job), verb, key, dry, signal);
export const commandOnItem = (
  job: string,
  item: string,
  verb: string,
  key: string,
  dry: boolean,
  signal: AbortSignal,
) => effect(at('jobs', job, 'items', item), verb, key, dry, signal);
export const commandOnInstance = (job: string, instance: string, key: string, dry: boolean, signal: AbortSignal) =>
  effect(at('jobs', job, 'instances', instance), 'shut-down', key, dry, signal);
export const commandOnServer = (
  server: string,
  verb: ServerCommand,
  key: string,
  dry: boolean,
  signal: AbortSignal,
  job?: string,
) => effect(job ? at('jobs', job, 'servers', server) : at('servers', server), verb, key, dry, signal);
export const settleDeadLetter = (d: DeadLetter, verdict: string, key: string, dry: boolean, signal: AbortSignal) =>
  effect(at('jobs', d.job, 'items', d.item, 'dead-letters', d.due), verdict, key, dry, signal);
export async function upcomingPage(
  _q: { name: string; hours: number; after: string },
  s: AbortSignal,
): Promise<Page<Due>> {
  const a = await ask<{ rows: never[]; next: string }>(at('upcoming'), { signal: s });
  return { rows: a.body.rows, next: '' };
}
export async function deadLetterPage(
  _job: string | undefined,
  _f: Record<string, string>,
  _c: string,
  s: AbortSignal,
): Promise<Page<DeadLetter>> {
  const a = await ask<{ rows: never[]; next: string }>(at('dead-letters'), { signal: s });
  return { rows: a.body.rows, next: '' };
}
export async function auditPage(
  _job: string | undefined,
  _f: Record<string, string>,
  _c: string,
  s: AbortSignal,
): Promise<Page<AuditRow>> {
  const a = await ask<{ rows: never[]; next: string }>(at('audit'), { signal: s });
  return { rows: a.body.rows, next: '' };
}
export async function statePage(
  _d: string,
  _f: Record<string, string>,
  _c: string,
  s: AbortSignal,
): Promise<Page<StateRow>> {
  const a = await ask<{ rows: never[]; next: string }>(at('states'), { signal: s });
  return { rows: a.body.rows, next: '' };
}
export async function historyPage(
  _d: string,
  _f: Record<string, string>,
  _c: string,
  s: AbortSignal,
): Promise<Page<HistoryRow>> {
  const a = await ask<{ rows: never[]; next: string }>(at('history'), { signal: s });
  return { rows: a.body.rows, next: '' };
}

export type Draft = Record<string, unknown>;
export interface FieldSpec {
  id: string;
  kind: 'text' | 'number' | 'flag' | 'choice' | 'json';
  choices?: string[];
  wide?: boolean;
  mono?: boolean;
  onlyNew?: boolean;
}
export interface Review {
  problems: { field: string; text: string }[];
  words: string[];
  dues: string[];
  text: string;
  plan?: { moved: number; shares: { instance: string; now: number; then: number }[] };
}
export const groups: { id: string; fields: FieldSpec[] }[] = [
  {
    id: 'schedule',
    fields: [
      { id: 'name', kind: 'text', onlyNew: true, wide: true },
      { id: 'cron', kind: 'text', mono: true, wide: true },
      { id: 'time_zone', kind: 'text' },
      { id: 'jitter', kind: 'text' },
      { id: 'starts', kind: 'text' },
      { id: 'ends', kind: 'text' },
      { id: 'schedules', kind: 'json', wide: true },
      { id: 'excluded', kind: 'json', wide: true },
    ],
  },
  {
    id: 'items',
    fields: [
      { id: 'sharding_total_count', kind: 'number' },
      { id: 'job_sharding_strategy_class', kind: 'text' },
      { id: 'sharding_item_parameters', kind: 'text', wide: true, mono: true },
      { id: 'item_labels', kind: 'text', wide: true, mono: true },
      { id: 'job_parameter', kind: 'text', wide: true },
    ],
  },
  {
    id: 'runs',
    fields: [
      { id: 'monitor_execution', kind: 'flag' },
      { id: 'failover', kind: 'flag' },
      { id: 'misfire', kind: 'flag' },
      { id: 'disabled', kind: 'flag' },
      { id: 'overwrite', kind: 'flag' },
      { id: 'max_time_diff_seconds', kind: 'number' },
      { id: 'reconcile_interval_minutes', kind: 'number' },
      { id: 'monitor_port', kind: 'number' },
    ],
  },
  {
    id: 'body',
    fields: [
      { id: 'type', kind: 'choice', choices: ['SIMPLE', 'DATAFLOW', 'SCRIPT'] },
      { id: 'job_class', kind: 'text' },
      { id: 'streaming_process', kind: 'flag' },
      { id: 'script_command_line', kind: 'text', wide: true, mono: true },
      { id: 'job_exception_handler', kind: 'text', wide: true },
      { id: 'executor_service_handler', kind: 'text', wide: true },
    ],
  },
  { id: 'other', fields: [{ id: 'description', kind: 'text', wide: true }] },
];
export function readConfiguration(b: unknown): Draft {
  return b as Draft;
}
export async function checkDraft(n: string, d: Draft, _t: string, signal: AbortSignal): Promise<Review> {
  return (await ask<Review>(at('jobs', n || 'x', 'check'), { method: 'POST', body: d, signal })).body;
}
export async function saveConfiguration(_n: string, _new: boolean, _d: Draft, _t: string, _k: string): Promise<Effect> {
  return { effect: '', text: '' };
}
