// SPDX-License-Identifier: Apache-2.0
// The list of jobs: filters, counters that act as filters, and commands on many jobs at once.
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Problem, usePages } from './api';
import { give } from './command';
import { allowed, commandOnJob, healthsOfJobs, jobCounts, jobPage, jobRow, type JobCounts, type JobRow } from './data';
import { useChanges } from './live';
import { changeQuery, go, hrefTo, place, useCell } from './store';
import { FilterField, Table, type Column } from './table';
import { Distance, Time } from './ui';
import { HealthChip, OutcomeChip, toneOf } from './marks';
import { words } from './words';

const filterNames = ['name', 'cron', 'description', 'last_round'] as const;
const recountMs = 500; // the counters need all jobs, so they are asked for when changes pause

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
  const others = JSON.stringify({ ...filters, health: undefined });
  const count = (signal?: AbortSignal) =>
    jobCounts(JSON.parse(others) as Record<string, string>, signal).then(setCounts, () => undefined);
  useEffect(() => {
    const stop = new AbortController();
    void count(stop.signal);
    return () => stop.abort();
  }, [here.registry, others]);

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
        width: '130px',
        sort: true,
        filter: healthsOfJobs.map((h) => [h, t.healths[h] ?? h]),
        cell: (j) => <HealthChip health={j.health} fault={j.fault} />,
      },
      {
        id: 'cron',
        title: t.cron,
        width: 'minmax(110px,1fr)',
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
        width: 'minmax(160px,1fr)',
        sort: true,
        cell: (j) => <Time at={j.nextDue} zone={j.zone} distance />,
      },
      {
        id: 'last_round',
        title: t.lastRound,
        width: 'minmax(185px,.8fr)',
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
      { id: 'items', title: t.itemCount, width: '76px', end: true, sort: true, cell: (j) => j.itemCount },
      { id: 'instances', title: t.instanceCount, width: '90px', end: true, sort: true, cell: (j) => j.instanceCount },
      {
        id: 'description',
        title: t.description,
        width: 'minmax(100px,1.2fr)',
        filter: 'text',
        from: 1280,
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
  const bulk = (verb: string, command: 'trigger' | 'disable' | 'enable' | 'shut-down') =>
    give({
      verb,
      subjects: [...selected].sort(),
      isGrave: command === 'shut-down',
      send: (job, by) => commandOnJob(job, command, by),
      done: () => setSelected(new Set()),
    });
  return (
    <>
      <div class="head">
        <h1>{t.jobs}</h1>
        <div class="counters grow" role="group" aria-label={t.filterBy(t.health)}>
          <button type="button" aria-pressed={!filters.health} onClick={() => filter('health', '')}>
            {t.all} <b>{counts ? counts.all : '…'}</b>
          </button>
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
        filters={filters}
        filter={filter}
        compact={(j) => (
          <div class="compact">
            <div>
              <a class="cut" href={hrefTo(['jobs', j.name])} tabIndex={-1}>
                {j.name}
              </a>
              <HealthChip health={j.health} fault={j.fault} />
            </div>
            <div class="small muted">
              <span class="mono cut">{j.schedule}</span>
              <Time at={j.nextDue} zone={j.zone} />
            </div>
          </div>
        )}
      />
      <div class="grid-foot small muted" role="status">
        {rows.busy && !rows.count ? t.loading : t.loaded(rows.rows.length, rows.total, rows.complete)}
      </div>
      {selected.size > 0 && (
        <div class="bar" role="region" aria-label={t.selected(selected.size)}>
          <b class="grow">{t.selected(selected.size)}</b>
          <button type="button" onClick={() => bulk(t.trigger, 'trigger')}>
            {t.trigger}
          </button>
          <button type="button" onClick={() => bulk(t.disable, 'disable')}>
            {t.disable}
          </button>
          <button type="button" onClick={() => bulk(t.enable, 'enable')}>
            {t.enable}
          </button>
          <button type="button" class="danger" onClick={() => bulk(t.shutDown, 'shut-down')}>
            {t.shutDown}
          </button>
          <button type="button" class="plain" onClick={() => setSelected(new Set())}>
            {t.noneSelected}
          </button>
        </div>
      )}
    </>
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
