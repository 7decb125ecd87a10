// SPDX-License-Identifier: Apache-2.0
// What the server offers, as the page uses it. The names of the interface are in this file only. Instants are texts of
// RFC 3339 in UTC; a list is `{"rows": […], "next": CURSOR, "total": COUNT}`, the last page without a cursor.
import { ask, type Page, type Request } from './api';
import type { Effect } from './command';
import { Cell, place, type Query } from './store';

const root = 'api/v1';

/** The path of something in the registry that is shown. */
export function at(...path: (string | number)[]): string {
  return [root, ...['registries', place.get().registry, ...path].map(encodeURIComponent)].join('/');
}

// Reading answers. What is missing is empty, so that an older server still shows what it has.
type Json = Record<string, unknown>;
const object = (v: unknown): Json => (v && typeof v === 'object' && !Array.isArray(v) ? (v as Json) : {});
const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);
const text = (v: unknown): string => (typeof v === 'string' ? v : typeof v === 'number' ? String(v) : '');
const number = (v: unknown): number => (typeof v === 'number' ? v : 0);
const instant = (v: unknown): string | undefined => text(v) || undefined;
const texts = (v: unknown): string[] => list(v).map(text);
const counts = (v: unknown): Record<string, number> =>
  Object.fromEntries(Object.entries(object(v)).map(([name, count]) => [name, number(count)]));

async function read(path: string, query: Query, signal?: AbortSignal): Promise<Json> {
  const request: Request = signal ? { query, signal } : { query };
  return object((await ask<unknown>(path, request)).body);
}

const pageSize = '100';

async function pageOf<R>(path: string, query: Query, row: (o: Json) => R, signal: AbortSignal): Promise<Page<R>> {
  const answer = await read(path, { limit: pageSize, ...query }, signal);
  return {
    rows: list(answer.rows).map((r) => row(object(r))),
    next: text(answer.next),
    total: typeof answer.total === 'number' ? answer.total : undefined,
  };
}

// The server itself

export interface Registry {
  name: string;
  nameSpace: string;
  isConnected: boolean;
}

export const registries = new Cell<Registry[]>([]);
export const databases = new Cell<string[]>([]);
/** Who the reader is, and which verbs the server would accept; nothing: it has not said. */
export const me = new Cell<{ name: string; version: string; authentication: string; verbs?: string[] }>({
  name: '',
  version: '',
  authentication: '',
});

/** Whether to offer it. The server decides again. */
export function allowed(verb: 'command' | 'change_settings' | 'add_job'): boolean {
  const { verbs } = me.get();
  return !verbs || verbs.includes(verb);
}

export async function meet(): Promise<void> {
  const [who, all] = await Promise.all([read(root + '/me', {}), read(root + '/registries', {})]);
  const verbs = Array.isArray(who.verbs) ? { verbs: texts(who.verbs) } : {};
  me.set({
    name: text(who.operator),
    version: text(who.version),
    authentication: text(who.authentication),
    ...verbs,
  });
  databases.set(texts(all.databases));
  registries.set(
    list(all.registries).map((r) => {
      const { name, name_space, is_connected } = object(r);
      return { name: text(name), nameSpace: text(name_space), isConnected: is_connected !== false };
    }),
  );
}

export const signIn = (operator: string, password: string) =>
  ask(root + '/session', { method: 'POST', body: { operator, password }, isSigningIn: true });
export const signOut = () => ask(root + '/session', { method: 'DELETE', body: {} });

export const streamKinds = ['job', 'reset'];
export function streamPath(): string {
  return at('stream');
}

// Jobs

export const healthsOfJobs = ['ok', 'orphaned', 'unowned', 'sharding_due', 'disabled', 'no_instances', 'unreadable'];

export interface JobRow {
  name: string;
  status: string;
  health: string;
  fault: string | undefined;
  schedule: string;
  description: string;
  itemCount: number;
  instanceCount: number;
  nextDue: string | undefined;
  zone: string;
  last: { outcome: string; at: string } | undefined;
  isPaused: boolean;
}

function toJobRow(o: Json): JobRow {
  const last = object(o.last_round);
  return {
    name: text(o.name),
    status: text(o.status),
    health: text(o.health),
    fault: instant(o.fault),
    schedule: text(o.cron),
    description: text(o.description),
    itemCount: number(o.item_count),
    instanceCount: number(o.instance_count),
    nextDue: instant(o.next_due),
    zone: text(o.time_zone),
    last: last.outcome ? { outcome: text(last.outcome), at: text(last.ended) || text(last.due) } : undefined,
    isPaused: o.is_paused === true,
  };
}

export interface JobCounts {
  all: number;
  paused: number;
  byHealth: Record<string, number>;
}

export async function jobPage(query: Query, signal: AbortSignal): Promise<Page<JobRow>> {
  return pageOf(at('jobs'), query, toJobRow, signal);
}

/** How many jobs there are of each health, with these filters. */
export async function jobCounts(filters: Query, signal?: AbortSignal): Promise<JobCounts> {
  const answer = await read(at('jobs-by-health'), filters, signal);
  const { paused = 0, ...byHealth } = counts(answer.counts);
  return { all: Object.values(byHealth).reduce((sum, n) => sum + n, 0), paused, byHealth };
}

/** Jobs that are gone for good. Their names stay taken until they are restored. */
export interface RemovedJob {
  name: string;
  since: string;
}

export function toRemovedJobs(body: unknown): RemovedJob[] {
  return list(object(body).rows).map((r) => {
    const o = object(r);
    return { name: text(o.name), since: text(o.since) };
  });
}

export async function jobRow(name: string): Promise<JobRow> {
  return toJobRow(await read(at('jobs', name), {}));
}

export interface JobDetail extends JobRow {
  inWords: string;
  dues: string[];
}

export function toJob(body: unknown): JobDetail {
  const o = object(body);
  return { ...toJobRow(o), inWords: text(o.in_words), dues: texts(o.next_dues) };
}

export interface Round {
  due: string;
  begun: string | undefined;
  ended: string | undefined;
  outcome: string;
}

export function toRounds(body: unknown): Round[] {
  return list(object(body).rows).map((r) => {
    const o = object(r);
    return { due: text(o.due), begun: instant(o.begun), ended: instant(o.ended), outcome: text(o.outcome) };
  });
}

// Items

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

export interface Entry {
  due: string;
  outcome: string;
  begun: string | undefined;
  ended: string | undefined;
  attempt: number;
  count: number;
  instance: string;
  note: string;
}

function toEntry(v: unknown): Entry {
  const o = object(v);
  return {
    due: text(o.due),
    outcome: text(o.outcome),
    begun: instant(o.begun),
    ended: instant(o.ended),
    attempt: number(o.attempt) || 1,
    count: number(o.count) || 1,
    instance: text(o.instance),
    note: text(o.note),
  };
}

export interface ItemRow {
  item: number;
  owner: string;
  health: string;
  fault: string | undefined;
  isFailover: boolean;
  isDisabled: boolean;
  progress: string;
  nextDue: string | undefined;
  running: { due: string; begun: string } | undefined;
  retry: { at: string; attempt: number } | undefined;
  deadLetters: number;
  ledger: Entry[]; // the newest first
}

function toItemRow(o: Json): ItemRow {
  const running = object(o.running);
  const retry = object(o.retry);
  const progress = object(o.progress);
  return {
    item: number(o.item),
    owner: text(o.owner),
    health: text(o.health),
    fault: instant(o.fault),
    isFailover: o.is_failover === true,
    isDisabled: o.is_disabled === true || o.health === 'disabled',
    progress: 'done' in progress ? [progress.done, progress.total].filter(Boolean).map(text).join(' / ') : '',
    nextDue: instant(o.next_due),
    running: running.begun ? { due: text(running.due), begun: text(running.begun) } : undefined,
    retry: retry.at ? { at: text(retry.at), attempt: number(retry.attempt) } : undefined,
    deadLetters: number(o.dead_letters),
    ledger: list(o.ledger).map(toEntry),
  };
}

export async function itemPage(
  job: string,
  q: { first: number; count: number; health: string; owner: string },
  signal: AbortSignal,
): Promise<{ rows: ItemRow[]; total: number; counts: Record<string, number> }> {
  const query = { first: String(q.first), limit: String(q.count), health: q.health, owner: q.owner };
  const answer = await read(at('jobs', job, 'items'), query, signal);
  return {
    rows: list(answer.rows).map((r) => toItemRow(object(r))),
    total: number(answer.total),
    counts: counts(answer.counts),
  };
}

/** Sentences, one to a line. */
export function toExplanation(body: unknown): string {
  return text(object(body).text);
}

// Instances and servers

export interface InstanceRow {
  id: string;
  server: string;
  isJava: boolean;
  isLeader: boolean;
  isDisabled: boolean;
  isLeftOver: boolean;
  isTriggered: boolean;
  isPaused: boolean;
  weight: number;
  labels: string;
  itemCount: number;
  host: string;
}

export function toInstances(body: unknown): InstanceRow[] {
  return list(object(body).rows).map((r) => {
    const o = object(r);
    const id = text(o.id);
    return {
      id,
      server: id.split('@-@')[0] ?? id,
      isJava: o.is_java === true,
      isLeader: o.is_leader === true,
      isDisabled: o.is_disabled === true,
      isLeftOver: o.is_left_over === true,
      isTriggered: o.is_triggered === true,
      isPaused: o.is_paused === true,
      weight: number(o.weight) || 1,
      labels: text(o.labels),
      itemCount: number(o.item_count),
      host: text(o.host),
    };
  });
}

export interface ServerRow {
  server: string;
  host: string;
  instances: number;
  jobs: number;
  disabled: number;
  idle: number;
}

export function toServers(body: unknown): ServerRow[] {
  return list(object(body).rows).map((r) => {
    const o = object(r);
    return {
      server: text(o.server),
      host: text(o.host),
      instances: number(o.instance_count),
      jobs: number(o.job_count),
      disabled: number(o.disabled_job_count),
      idle: number(o.idle_job_count),
    };
  });
}

export interface ServerInJob {
  job: string;
  host: string;
  isDisabled: boolean;
  isPaused: boolean;
  instances: string[];
}

export function toServer(body: unknown): ServerInJob[] {
  return list(object(body).rows).map((r) => {
    const o = object(r);
    return {
      job: text(o.job),
      host: text(o.host),
      isDisabled: o.is_disabled === true,
      isPaused: o.is_paused === true,
      instances: texts(o.instances),
    };
  });
}

// Commands

export type JobCommand = 'trigger' | 'pause' | 'resume' | 'disable' | 'enable' | 'shut-down' | 'remove' | 'restore';
export type ItemCommand = 'trigger' | 'disable' | 'enable' | 'stop';
export type ServerCommand = 'pause' | 'resume' | 'disable' | 'enable' | 'shut-down' | 'remove';
/** Those that stop work or remove something. */
export const isGrave = (verb: JobCommand | ItemCommand | ServerCommand) => verb === 'shut-down' || verb === 'remove';

/** How a command is given: under a key, or only to learn what it would do. */
export interface Giving {
  key: string;
  dryRun: boolean;
  signal: AbortSignal;
}

async function command(path: string, verb: string, by: Giving): Promise<Effect> {
  const query = by.dryRun ? { dry_run: 'true' } : {};
  const answer = await ask<unknown>(`${path}/${verb}`, {
    method: 'POST',
    body: {},
    query,
    key: by.key,
    signal: by.signal,
  });
  const { effect, text: said } = object(answer.body);
  return { effect: text(effect), text: text(said) };
}

export const commandOnJob = (job: string, verb: JobCommand, by: Giving) => command(at('jobs', job), verb, by);
export const commandOnItem = (job: string, item: string, verb: ItemCommand, by: Giving) =>
  command(at('jobs', job, 'items', item), verb, by);
export const shutDownInstance = (job: string, instance: string, by: Giving) =>
  command(at('jobs', job, 'instances', instance), 'shut-down', by);
/** In one job, or in all. */
export const commandOnServer = (server: string, verb: ServerCommand, by: Giving, job?: string) =>
  command(job ? at('jobs', job, 'servers', server) : at('servers', server), verb, by);
export const settleDeadLetter = (d: DeadLetter, verdict: 'run-again' | 'discard', by: Giving) =>
  command(at('jobs', d.job, 'items', d.item, 'dead-letters', d.due), verdict, by);

// Lists over all jobs

export interface Due {
  job: string;
  due: string;
  zone: string;
}

export function upcomingPage(
  q: { name: string; hours: number; after: string },
  signal: AbortSignal,
): Promise<Page<Due>> {
  const query = { name: q.name, hours: String(q.hours), after: q.after };
  return pageOf(
    at('upcoming'),
    query,
    (o) => ({ job: text(o.job), due: text(o.due), zone: text(o.time_zone) }),
    signal,
  );
}

export interface DeadLetter extends Entry {
  job: string;
  item: number;
}

export function deadLetterPage(filters: Query, cursor: string, signal: AbortSignal): Promise<Page<DeadLetter>> {
  const row = (o: Json) => ({ ...toEntry(o), job: text(o.job), item: number(o.item) });
  return pageOf(at('dead-letters'), { ...filters, after: cursor }, row, signal);
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

export function auditPage(filters: Query, cursor: string, signal: AbortSignal): Promise<Page<AuditRow>> {
  const row = (o: Json) => ({
    job: text(o.job),
    number: number(o.number),
    at: text(o.at),
    operator: text(o.operator),
    verb: text(o.verb),
    subject: text(o.subject),
    outcome: text(o.outcome),
    note: text(o.note),
  });
  return pageOf(at('audit'), { ...filters, after: cursor }, row, signal);
}

// Event databases

export interface HistoryRow {
  id: string;
  job: string;
  item: number;
  outcome: string; // success, failure, running
  began: string;
  ended: string | undefined;
  server: string;
  host: string;
  source: string;
  note: string;
}

// What the server calls the columns that rows are sorted by.
const historyColumns: Record<string, string> = {
  time: 'startTime',
  job: 'jobName',
  item: 'shardingItem',
  success: 'success',
};
const stateColumns: Record<string, string> = {
  time: 'creationTime',
  job: 'jobName',
  item: 'shardingItem',
};
function sorted(q: Query, columns: Record<string, string>): Query {
  const [, minus = '', column = ''] = /^(-?)(.*)$/.exec(q.sort ?? '') ?? [];
  return { ...q, sort: minus + (columns[column] ?? column) };
}

/** Of a database; without one, of the run records of the registry that is shown. */
export function historyPage(
  database: string,
  q: Query,
  cursor: string,
  signal: AbortSignal,
): Promise<Page<HistoryRow>> {
  const row = (o: Json) => ({
    id: text(o.id),
    job: text(o.job),
    item: number(o.item),
    outcome: o.ended ? (o.is_success === true ? 'success' : 'failure') : 'running',
    began: text(o.started),
    ended: instant(o.ended),
    server: text(o.ip),
    host: text(o.hostname),
    source: text(o.source),
    note: text(o.failure),
  });
  const path = database ? `${root}/databases/${encodeURIComponent(database)}/executions` : at('executions');
  return pageOf(path, { ...sorted(q, historyColumns), after: cursor }, row, signal);
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

export function statePage(database: string, q: Query, cursor: string, signal: AbortSignal): Promise<Page<StateRow>> {
  const row = (o: Json) => ({
    id: text(o.id),
    job: text(o.job),
    items: text(o.items),
    state: text(o.state),
    at: text(o.at),
    server: text(o.ip),
    note: text(o.message),
  });
  return pageOf(
    `${root}/databases/${encodeURIComponent(database)}/states`,
    { ...sorted(q, stateColumns), after: cursor },
    row,
    signal,
  );
}

// Configurations

export type Draft = Record<string, unknown>;

export interface FieldSpec {
  id: string;
  kind: 'text' | 'number' | 'flag' | 'choice' | 'json';
  choices?: string[];
  wide?: boolean;
  mono?: boolean;
  onlyNew?: boolean;
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
export function readConfiguration(body: unknown): Draft {
  return object(body);
}

/** What the server makes of a draft. */
export interface Review {
  problems: { field: string; text: string }[];
  words: string[];
  dues: string[];
  text: string;
  plan: { moved: number; shares: { instance: string; now: number; then: number }[] } | undefined;
}

/** An empty name: the draft is that of a new job. */
export async function checkDraft(name: string, draft: Draft, tag: string, signal: AbortSignal): Promise<Review> {
  const path = name ? at('jobs', name, 'check') : at('check');
  const o = object((await ask<unknown>(path, { method: 'POST', body: draft, tag, signal })).body);
  const plan = object(o.plan);
  return {
    problems: list(o.problems).map((p) => ({ field: text(object(p).field), text: text(object(p).text) })),
    words: texts(o.in_words),
    dues: texts(o.next_dues),
    text: text(o.text),
    plan: o.plan
      ? {
          moved: number(plan.moved),
          shares: list(plan.shares).map((s) => {
            const { instance, now, then } = object(s);
            return { instance: text(instance), now: number(now), then: number(then) };
          }),
        }
      : undefined,
  };
}

/** The tag is that of the configuration which the draft was made from; without one, the job must be new. */
export async function saveConfiguration(name: string, draft: Draft, tag: string, key: string): Promise<Effect> {
  const answer = await ask<unknown>(at('jobs', name, 'configuration'), {
    method: 'PUT',
    body: draft,
    tag,
    isNew: !tag,
    key,
  });
  const { effect, text: said } = object(answer.body);
  return { effect: text(effect), text: text(said) };
}
