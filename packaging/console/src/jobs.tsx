// SPDX-License-Identifier: Apache-2.0
// The list of jobs: filters, counters that act as filters, and commands on many jobs at once.
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Problem, usePages } from './api';
import { give, SelectionBar, type Action, type Command } from './command';
import {
  allowed,
  commandOnJob,
  healthsOfJobs,
  isGrave,
  jobCounts,
  jobPage,
  jobRow,
  type JobCommand,
  type JobCounts,
  type JobRow,
} from './data';
import { useChanges } from './live';
import { changeQuery, go, hrefTo, place, useCell } from './store';
import { FilterField, Table, type Column } from './table';
import { Chip, Distance, Time } from './ui';
import { HealthChip, OutcomeChip, toneOf } from './marks';
import { words, type Words } from './words';

const filterNames = [
  'name',
  'cron',
  'due_within',
  'last_round',
  'items',
  'instances',
  'description',
  'paused',
] as const;
const dueWithin = ['60', '3600', '86400', '604800']; // seconds
const recountMs = 500; // the counters need all jobs, so they are asked for when changes pause

// Rounds are no changes of a job. So a job that was due is asked for a moment later: it has another next instant by then,
// and often another last round.
const dueCheckMs = 1000;
const afterDueMs = 2000;
const dueAgainMs = 30_000; // if the answer has the same instant: the clocks of server and browser differ
const dueJobsMax = 20; // at once

/** Buttons for commands on jobs; `send` gets each command without its subjects. */
export function actionsOnJobs(
  t: Words,
  commands: JobCommand[],
  ask: (command: Pick<Command, 'verb' | 'isGrave' | 'send'>) => void,
): Action[] {
  const verbs: Record<JobCommand, string> = {
    trigger: t.trigger,
    pause: t.pause,
    resume: t.resume,
    disable: t.disable,
    enable: t.enable,
    'shut-down': t.shutDown,
    remove: t.remove,
    restore: t.restore,
  };
  const hints: Partial<Record<JobCommand, string>> = {
    trigger: t.triggerLong,
    pause: t.pauseLong,
    disable: t.disableLong,
    'shut-down': t.shutDownLong,
    remove: t.removeLong,
  };
  return commands
    .filter((c) => allowed(c === 'remove' || c === 'restore' ? 'add_job' : 'command'))
    .map((c) => ({
      title: verbs[c],
      hint: hints[c] ?? '',
      isGrave: isGrave(c),
      run: () => ask({ verb: verbs[c], isGrave: isGrave(c), send: (job, by) => commandOnJob(job, c, by) }),
    }));
}

export function JobsPage(): JSX.Element {
  const t = words();
  const here = useCell(place);
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const [counts, setCounts] = useState<JobCounts>();
  const filters: Record<string, string> = {};
  for (const name of [...filterNames, 'health']) filters[name] = here.query.get(name) ?? '';
  const order = here.query.get('sort') ?? '';
  const key = JSON.stringify([here.registry, filters, order]);
  const rows = usePages<JobRow>(key, (cursor, signal) => jobPage({ ...filters, sort: order, after: cursor }, signal));
  // The counters keep to the other filters.
  const others = JSON.stringify({ ...filters, health: undefined, paused: undefined });
  const count = (signal?: AbortSignal) =>
    jobCounts(JSON.parse(others) as Record<string, string>, signal).then(setCounts, () => undefined);
  useEffect(() => {
    const stop = new AbortController();
    void count(stop.signal);
    return () => stop.abort();
  }, [here.registry, others]);

  // Jobs that are new, or match the filters now, are in no list yet. Both numbers come from the server.
  const expected = filters.paused ? counts?.paused : filters.health ? counts?.byHealth[filters.health] ?? 0 : counts?.all;
  useEffect(() => {
    if (filters.paused && filters.health) return; // not counted together
    if (counts && rows.total !== undefined && rows.total !== expected) rows.again();
  }, [counts]);

  // A change of a job asks for that job alone; changes that come thick and fast wait for the answer before.
  const asked = useRef(new Map<string, boolean>()); // job -> it has changed again meanwhile
  const recount = useRef(0);
  useEffect(() => () => clearTimeout(recount.current), []);
  const renew = (name: string) => {
    if (asked.current.has(name)) {
      asked.current.set(name, true);
      return;
    }
    asked.current.set(name, false);
    void jobRow(name)
      .then(
        (fresh) => rows.patch((r) => (r.name === name ? fresh : r)),
        (e: unknown) =>
          e instanceof Problem && e.status === 404 && rows.patch((r) => (r.name === name ? undefined : r)),
      )
      .finally(() => {
        const changedAgain = asked.current.get(name);
        asked.current.delete(name);
        if (changedAgain) renew(name);
      });
  };
  useChanges(
    (change) => {
      if (change.kind === 'reset') rows.again();
      else if (change.job && rows.rows.some((r) => r.name === change.job)) renew(change.job);
      clearTimeout(recount.current);
      recount.current = setTimeout(() => void count(), recountMs);
    },
    [key, rows.rows],
  );

  const askedAtDue = useRef(new Map<string, { due: string; at: number }>());
  const renewDue = useRef(() => {});
  renewDue.current = () => {
    const now = Date.now();
    const known = askedAtDue.current;
    const overdue = rows.rows.filter(({ name, nextDue }) => {
      if (!nextDue || Date.parse(nextDue) + afterDueMs > now) return false;
      const before = known.get(name);
      return before?.due !== nextDue || now - before.at > dueAgainMs;
    });
    for (const { name, nextDue } of overdue.slice(0, dueJobsMax)) {
      known.set(name, { due: nextDue!, at: now });
      renew(name);
    }
  };
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && renewDue.current(), dueCheckMs);
    return () => clearInterval(timer);
  }, []);

  const columns = useMemo<Column<JobRow>[]>(
    () => [
      {
        id: 'name',
        title: t.name,
        width: 'minmax(150px,1.6fr)',
        sort: true,
        filter: 'text',
        cell: (j) => (
          <a href={hrefTo(['jobs', j.name])} tabIndex={-1} title={j.name}>
            {j.name}
          </a>
        ),
      },
      {
        id: 'health',
        title: t.health,
        width: '150px',
        sort: true,
        filter: healthsOfJobs.map((h) => [h, t.healths[h] ?? h]),
        cell: (j) => <JobHealth job={j} />,
      },
      {
        id: 'cron',
        title: t.cron,
        width: 'minmax(130px,1fr)',
        filter: 'text',
        sort: true,
        from: 900,
        cell: (j) => (
          <span class="mono" title={j.schedule}>
            {j.schedule}
          </span>
        ),
      },
      {
        id: 'next_due',
        title: t.nextDue,
        width: 'minmax(175px,1fr)',
        sort: true,
        filter: dueWithin.map((s) => [s, t.within(Number(s))]),
        cell: (j) => <Time at={j.nextDue} zone={j.zone} distance />,
      },
      {
        id: 'last_round',
        title: t.lastRound,
        width: '165px',
        sort: true,
        from: 1000,
        filter: ['completed', 'failed', 'interrupted', 'skipped'].map((o): [string, string] => [o, t.outcomes[o] ?? o]),
        cell: (j) =>
          j.last ? (
            <>
              <OutcomeChip outcome={j.last.outcome} /> <Distance at={j.last.at} />
            </>
          ) : (
            <span class="muted">–</span>
          ),
      },
      {
        id: 'items',
        title: t.itemCount,
        width: '86px',
        end: true,
        sort: true,
        filter: 'range',
        cell: (j) => j.itemCount,
      },
      {
        id: 'instances',
        title: t.instanceCount,
        width: '90px',
        end: true,
        sort: true,
        filter: 'range',
        cell: (j) => j.instanceCount,
      },
      {
        id: 'description',
        title: t.description,
        width: 'minmax(100px,1.2fr)',
        filter: 'text',
        from: 1400,
        cell: (j) => (
          <span class="muted" title={j.description}>
            {j.description}
          </span>
        ),
      },
    ],
    [t],
  );

  const filter = (name: string, value: string) => {
    setSelected(new Set());
    changeQuery({ [name]: value });
  };
  const isFiltered = Object.values(filters).some(Boolean);
  return (
    <>
      <div class="head">
        <h1>{t.jobs}</h1>
        <div class="counters grow" role="group" aria-label={t.filterBy(t.health)}>
          <button
            type="button"
            aria-pressed={!filters.health && !filters.paused}
            onClick={() => changeQuery({ health: undefined, paused: undefined })}
          >
            {t.all} <b>{counts ? counts.all : '…'}</b>
          </button>
          {(!!counts?.paused || filters.paused) && (
            <button
              type="button"
              class="warn"
              aria-pressed={!!filters.paused}
              title={t.pauseLong}
              onClick={() => filter('paused', filters.paused ? '' : 'true')}
            >
              {t.paused} <b>{counts?.paused ?? 0}</b>
            </button>
          )}
          {healthsOfJobs.map((h) => (
            <HealthCounter
              key={h}
              health={h}
              count={counts?.byHealth[h]}
              pressed={filters.health === h}
              press={() => filter('health', filters.health === h ? '' : h)}
            />
          ))}
        </div>
        <span class="narrow-only">
          <FilterField
            id="filter"
            title={t.name}
            filter="text"
            value={filters.name ?? ''}
            change={(v) => filter('name', v)}
          />
        </span>
        {isFiltered && (
          <button
            type="button"
            class="plain"
            onClick={() => {
              setSelected(new Set());
              changeQuery(Object.fromEntries(Object.keys(filters).map((n) => [n, undefined])));
            }}
          >
            {t.clear}
          </button>
        )}
        {allowed('add_job') && (
          <a class="button" href={hrefTo(['new-job'])} title={t.addJob}>
            <span aria-hidden="true">+</span>
            <span class="wide-only">{t.addJob}</span>
            <span class="hidden">{t.addJob}</span>
          </a>
        )}
      </div>
      <Table
        label={t.jobs}
        columns={columns}
        rows={rows}
        keyOf={(j) => j.name}
        open={(j) => go(['jobs', j.name])}
        {...(allowed('command') ? { selected, select: setSelected } : {})}
        sorting={order ? { column: order.replace(/^-/, ''), down: order.startsWith('-') } : undefined}
        sort={(by) => changeQuery({ sort: (by.down ? '-' : '') + by.column })}
        filters={{ ...filters, next_due: filters.due_within ?? '' }}
        filter={(column, value) => filter(column === 'next_due' ? 'due_within' : column, value)}
        compact={(j) => (
          <div class="compact">
            <div>
              <a class="cut" href={hrefTo(['jobs', j.name])} tabIndex={-1}>
                {j.name}
              </a>
              <JobHealth job={j} />
            </div>
            <div class="small muted">
              <span class="mono cut">{j.schedule}</span>
              <Time at={j.nextDue} zone={j.zone} />
            </div>
          </div>
        )}
      />
      <div class="grid-foot small muted" role="status">
        <span class="grow">
          {rows.busy && !rows.count ? t.loading : t.loaded(rows.rows.length, rows.total, rows.complete)}
        </span>
        <a href={hrefTo(['removed'])}>{t.removedJobs}</a>
      </div>
      <SelectionBar
        count={selected.size}
        clear={() => setSelected(new Set())}
        all={actionsOnJobs(t, ['trigger', 'pause', 'resume', 'disable', 'enable', 'shut-down', 'remove'], (a) =>
          give({ ...a, subjects: [...selected].sort(), done: () => setSelected(new Set()) }),
        )}
      />
    </>
  );
}

/** That it is paused says more than that all is well. */
export function JobHealth(p: { job: JobRow }): JSX.Element {
  const t = words();
  const { job } = p;
  return (
    <span class="row near">
      {job.isPaused && (
        <Chip tone="warn" title={t.pauseLong}>
          {t.paused}
        </Chip>
      )}
      {!(job.isPaused && job.health === 'ok') && <HealthChip health={job.health} fault={job.fault} />}
    </span>
  );
}

function HealthCounter(p: {
  health: string;
  count: number | undefined;
  pressed: boolean;
  press(): void;
}): JSX.Element | null {
  const t = words();
  if (!p.count && !p.pressed) return null;
  return (
    <button
      type="button"
      class={toneOf(p.health)}
      aria-pressed={p.pressed}
      title={t.healthHints[p.health]}
      onClick={p.press}
    >
      {t.healths[p.health] ?? p.health} <b>{p.count ?? 0}</b>
    </button>
  );
}
