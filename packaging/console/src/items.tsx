// SPDX-License-Identifier: Apache-2.0
// The items of a job: a grid with their recent runs, or with the instances.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { useBlocks, useGet } from './api';
import { give, SelectionBar } from './command';
import {
  allowed,
  at,
  commandOnItem,
  healthsOfItems,
  itemPage,
  toInstances,
  type Entry,
  type ItemCommand,
  type ItemRow,
  type JobDetail,
} from './data';
import { useChangesOf } from './live';
import { HealthChip, Legend, OutcomeMark } from './marks';
import { changeQuery, go, hrefTo, place, useCell } from './store';
import { Table, type Column } from './table';
import { distanceText, durationText, fullTime } from './time';
import { Chip, Time } from './ui';
import { words } from './words';

const instanceColumnsMax = 40;

export function Items(p: { job: JobDetail }): JSX.Element {
  const t = words();
  const here = useCell(place);
  const { name } = p.job;
  const health = here.query.get('health') ?? '';
  const owner = here.query.get('owner') ?? '';
  const view = here.query.get('view') === 'instances' ? 'instances' : 'runs';
  const [counts, setCounts] = useState<Record<string, number>>();
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const rows = useBlocks<ItemRow>(
    JSON.stringify([here.registry, name, health, owner]),
    async (first, count, signal) => {
      const page = await itemPage(name, { first, count, health, owner }, signal);
      if (page.counts) setCounts(page.counts);
      return page;
    },
  );
  useChangesOf(name, rows.again);
  const shownInstances = useGet<unknown>(view === 'instances' ? at('jobs', name, 'instances') : '');
  const everybody = view === 'instances' && shownInstances.body !== undefined ? toInstances(shownInstances.body) : [];
  const instances = everybody.slice(0, instanceColumnsMax);
  const columns = useMemo<Column<ItemRow>[]>(() => {
    const lead: Column<ItemRow>[] = [
      {
        id: 'item',
        title: t.item,
        width: '70px',
        end: true,
        cell: (i) => (
          <a href={hrefTo(['jobs', name, 'items', i.item])} tabIndex={-1} title={t.explanation}>
            {i.item}
          </a>
        ),
      },
      {
        id: 'health',
        title: t.health,
        width: '120px',
        filter: healthsOfItems.map((h) => [h, t.healths[h] ?? h]),
        cell: (i) => <HealthChip health={i.health} fault={i.fault} />,
      },
    ];
    if (view === 'instances')
      return [
        ...lead,
        ...instances.map((instance): Column<ItemRow> => ({
          id: instance.id,
          title: instances.filter((i) => i.server === instance.server).length > 1 ? instance.id : instance.server,
          hint: instance.id,
          width: 'minmax(28px,160px)',
          cell: (i) =>
            i.owner === instance.id ? (
              <span class="o run" role="img" aria-label={t.owner} title={instance.id}>
                ●
              </span>
            ) : (
              <span class="o gap" aria-hidden="true" />
            ),
        })),
      ];
    return [
      ...lead,
      {
        id: 'owner',
        title: t.owner,
        width: 'minmax(140px,1fr)',
        filter: 'text',
        from: 900,
        cell: (i) =>
          i.owner ? (
            <span class="mono" title={i.owner}>
              {i.owner}
            </span>
          ) : (
            <span class="muted">{t.nobody}</span>
          ),
      },
      { id: 'runs', title: t.recentRuns, width: '260px', cell: (i) => <Runs item={i} /> },
      {
        id: 'state',
        title: t.state,
        width: 'minmax(160px,1.2fr)',
        cell: (i) => <ItemState item={i} zone={p.job.zone} />,
      },
      { id: 'letters', title: t.deadLetters, width: '110px', end: true, from: 1000, cell: (i) => i.deadLetters || '' },
    ];
  }, [t, name, view, instances.map((i) => i.id).join()]);
  const items = [...selected]
    .map(Number)
    .sort((a, b) => a - b)
    .map(String);
  const bulk = (verb: string, command: ItemCommand) =>
    give({
      verb,
      subjects: items.map((i) => `${name} / ${i}`),
      done: () => {
        setSelected(new Set());
        rows.again();
      },
      send: (subject, by) => commandOnItem(name, subject.slice(name.length + 3), command, by),
    });
  return (
    <>
      <div class="head">
        <div class="counters grow" role="group" aria-label={t.filterBy(t.health)}>
          <button type="button" aria-pressed={!health} onClick={() => changeQuery({ health: undefined })}>
            {t.all} <b>{p.job.itemCount}</b>
          </button>
          {healthsOfItems
            .filter((h) => counts?.[h] || health === h)
            .map((h) => (
              <button
                type="button"
                key={h}
                aria-pressed={health === h}
                onClick={() => changeQuery({ health: health === h ? undefined : h })}
              >
                {t.healths[h] ?? h} <b>{counts?.[h] ?? ''}</b>
              </button>
            ))}
        </div>
        <div class="row" role="group" aria-label={t.show}>
          <button type="button" aria-pressed={view === 'runs'} onClick={() => changeQuery({ view: undefined })}>
            {t.itemsByRuns}
          </button>
          <button type="button" aria-pressed={view === 'instances'} onClick={() => changeQuery({ view: 'instances' })}>
            {t.itemsByInstances}
          </button>
        </div>
      </div>
      <Table
        label={view === 'runs' ? t.itemsByRuns : t.itemsByInstances}
        columns={columns}
        rows={rows}
        keyOf={(i) => String(i.item)}
        open={(i) => go(['jobs', name, 'items', i.item])}
        {...(allowed('command') ? { selected, select: setSelected } : {})}
        filters={{ health, owner }}
        filter={(column, value) => changeQuery({ [column]: value })}
        compact={(i) => (
          <div class="compact">
            <div>
              <a href={hrefTo(['jobs', name, 'items', i.item])} tabIndex={-1}>
                {t.item} {i.item}
              </a>
              <HealthChip health={i.health} fault={i.fault} />
            </div>
            {view === 'runs' ? (
              <div>
                <Runs item={i} />
              </div>
            ) : (
              <div class="small muted">
                <span class="mono cut">{i.owner || t.nobody}</span>
              </div>
            )}
          </div>
        )}
      />
      {view === 'runs' ? (
        <Legend />
      ) : (
        instances.length < everybody.length && (
          <p class="small muted">
            {t.instances}: {t.ofMany(instances.length, everybody.length)}
          </p>
        )
      )}
      <SelectionBar
        count={selected.size}
        clear={() => setSelected(new Set())}
        all={[
          { title: t.trigger, run: () => bulk(t.trigger, 'trigger') },
          { title: t.disable, run: () => bulk(t.disable, 'disable') },
          { title: t.enable, run: () => bulk(t.enable, 'enable') },
          { title: t.stop, isGrave: true, run: () => bulk(t.stop, 'stop') },
        ]}
      />
    </>
  );
}

function entryText(e: Entry, t: ReturnType<typeof words>): string {
  const took = e.begun && e.ended ? ` · ${durationText(Date.parse(e.ended) - Date.parse(e.begun))}` : '';
  const attempt = e.attempt > 1 ? ` · ${t.attempt} ${e.attempt}` : '';
  const count = e.count > 1 ? ` · ${e.count}×` : '';
  return `${t.outcomes[e.outcome] ?? e.outcome} · ${fullTime(e.due)}${took}${attempt}${count}${e.instance ? ` · ${e.instance}` : ''}${e.note ? `\n${e.note}` : ''}`;
}

/** The last runs of an item, the newest first. */
function Runs(p: { item: ItemRow }): JSX.Element {
  const t = words();
  return (
    <span class="runs">
      {p.item.running ? (
        <OutcomeMark outcome="running" title={`${t.outcomes.running} · ${fullTime(p.item.running.due)}`} />
      ) : (
        <span class="o gap" aria-hidden="true" />
      )}
      {p.item.ledger.map((e) => (
        <OutcomeMark key={e.due + e.attempt + e.outcome} outcome={e.outcome} title={entryText(e, t)} />
      ))}
    </span>
  );
}

export function ItemState(p: { item: ItemRow; zone: string }): JSX.Element {
  const t = words();
  const { item } = p;
  if (item.running)
    return (
      <span>
        {t.began} <Time at={item.running.begun} zone={p.zone} distance />
        {item.isFailover && (
          <>
            {' '}
            <Chip tone="warn">{t.failover}</Chip>
          </>
        )}
      </span>
    );
  if (item.retry)
    return (
      <span>
        {t.retry} {item.retry.attempt}: <Time at={item.retry.at} zone={p.zone} distance />
      </span>
    );
  const last = item.ledger[0];
  if (last?.outcome === 'failed' && last.note) return <span title={last.note}>{last.note}</span>;
  return last ? (
    <span class="muted">
      {t.outcomes[last.outcome]} {distanceText(last.ended)}
    </span>
  ) : (
    <span class="muted">–</span>
  );
}
