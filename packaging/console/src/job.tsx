// SPDX-License-Identifier: Apache-2.0
// One job: its rounds, items, instances, dead letters, and what it says of itself.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useBlocks, useGet } from './api';
import { AuditTable } from './audit';
import { give } from './command';
import { ConfigurationEditor } from './configuration';
import {
  allowed,
  at,
  commandOnInstance,
  commandOnItem,
  commandOnJob,
  healthsOfItems,
  itemPage,
  toExplanation,
  toInstances,
  toJob,
  toRounds,
  type Entry,
  type InstanceRow,
  type ItemCommand,
  type ItemRow,
  type JobDetail,
} from './data';
import { DeadLettersTable } from './dead_letters';
import { HistoryTable } from './history';
import { useChanges } from './live';
import { HealthChip, Legend, OutcomeMark } from './marks';
import { changeQuery, go, hrefTo, place, useCell } from './store';
import { Table, type Column } from './table';
import { distanceText, durationText, fullTime, jobZone } from './time';
import { Timeline } from './timeline';
import { Chip, Notice, Time } from './ui';
import { words } from './words';

const tabs = ['overview', 'items', 'instances', 'configuration', 'dead-letters', 'history', 'audit'] as const;

export function JobPage(p: { name: string; tab: string; item: string | undefined }): JSX.Element {
  const t = words();
  const asked = useGet<unknown>(at('jobs', p.name));
  const job = asked.body === undefined ? undefined : toJob(asked.body);
  useChangesOf(p.name, asked.again);
  useEffect(() => {
    jobZone.set(job?.zone ?? '');
    return () => jobZone.set('');
  }, [job?.zone]);
  if (!job) {
    if (!asked.fault)
      return (
        <p class="muted" role="status">
          {t.loading}
        </p>
      );
    return (
      <Notice tone="bad">
        {asked.fault.status === 404 ? t.jobMissing(p.name) : asked.fault.message}{' '}
        <a href={hrefTo(['jobs'])}>{t.toJobs}</a>
      </Notice>
    );
  }
  const titles: Record<string, string> = {
    overview: t.overview,
    items: `${t.items} ${job.itemCount}`,
    instances: `${t.instances} ${job.instanceCount}`,
    configuration: t.configuration,
    'dead-letters': t.deadLetters,
    history: t.history,
    audit: t.audit,
  };
  const command = (verb: string, name: 'trigger' | 'disable' | 'enable' | 'shut-down') =>
    give({
      verb,
      subjects: [p.name],
      isGrave: name === 'shut-down',
      done: asked.again,
      send: (subject, key, dry, signal) => commandOnJob(subject, name, key, dry, signal),
    });
  return (
    <>
      <div class="head">
        <nav aria-label={t.jobs}>
          <a href={hrefTo(['jobs'])}>{t.jobs}</a> <span aria-hidden="true">/</span>
        </nav>
        <h1 class="wrap">{p.name}</h1>
        <HealthChip health={job.health} fault={job.fault} />
        <span class="grow" />
        {allowed('command') && (
          <div class="row">
            <button type="button" title={t.triggerLong} onClick={() => command(t.trigger, 'trigger')}>
              {t.trigger}
            </button>
            {job.health === 'disabled' || job.status === 'DISABLED' ? (
              <button type="button" onClick={() => command(t.enable, 'enable')}>
                {t.enable}
              </button>
            ) : (
              <button type="button" onClick={() => command(t.disable, 'disable')}>
                {t.disable}
              </button>
            )}
            <button type="button" class="danger" onClick={() => command(t.shutDown, 'shut-down')}>
              {t.shutDown}
            </button>
          </div>
        )}
      </div>
      <nav class="tabs" aria-label={p.name}>
        {tabs.map((tab) => (
          <a
            key={tab}
            href={hrefTo(['jobs', p.name, ...(tab === 'overview' ? [] : [tab])])}
            aria-current={p.tab === tab ? 'page' : undefined}
          >
            {titles[tab]}
          </a>
        ))}
      </nav>
      {job.fault && <Notice tone="bad">{job.fault}</Notice>}
      {p.tab === 'overview' && <Overview job={job} />}
      {p.tab === 'items' &&
        (p.item === undefined ? <Items job={job} /> : <Item key={p.item} job={job} item={p.item} />)}
      {p.tab === 'instances' && <Instances job={job} />}
      {p.tab === 'configuration' && <ConfigurationEditor name={p.name} />}
      {p.tab === 'dead-letters' && <DeadLettersTable job={p.name} />}
      {p.tab === 'history' && <HistoryTable job={p.name} />}
      {p.tab === 'audit' && <AuditTable job={p.name} />}
    </>
  );
}

const pauseMs = 100; // between two questions because of changes, so that a busy job does not keep the server busy

/** Calls `again` after a change of the job; of many changes at once only after the first and the last. */
function useChangesOf(job: string, again: () => void): void {
  const timer = useRef(0);
  const latest = useRef(again);
  latest.current = again;
  const quietUntil = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  useChanges(
    (change) => {
      if (change.kind !== 'reset' && change.job !== job) return;
      clearTimeout(timer.current);
      const wait = quietUntil.current - Date.now();
      const go = () => {
        quietUntil.current = Date.now() + pauseMs;
        latest.current();
      };
      if (wait <= 0) go();
      else timer.current = setTimeout(go, wait);
    },
    [job],
  );
}

function Card(p: { title: string; wide?: boolean; children: ComponentChildren }): JSX.Element {
  return (
    <section class={'card' + (p.wide ? ' wide' : '')}>
      <h2>{p.title}</h2>
      {p.children}
    </section>
  );
}

function Overview(p: { job: JobDetail }): JSX.Element {
  const t = words();
  const { job } = p;
  const rounds = useGet<unknown>(at('jobs', job.name, 'rounds'));
  useChangesOf(job.name, rounds.again);
  return (
    <div class="cards">
      <Card title={t.timeline} wide>
        {rounds.fault ? (
          <p class="muted">{rounds.fault.message}</p>
        ) : rounds.body === undefined ? (
          <p class="muted">{t.loading}</p>
        ) : (
          <Timeline rounds={toRounds(rounds.body)} zone={job.zone} />
        )}
      </Card>
      <Card title={t.facts}>
        <dl class="facts">
          <dt>{t.cron}</dt>
          <dd class="mono">{job.schedule || '–'}</dd>
          {job.inWords && (
            <>
              <dt>{t.inWords}</dt>
              <dd>{job.inWords}</dd>
            </>
          )}
          <dt>{t.zone}</dt>
          <dd>{job.zone || '–'}</dd>
          <dt>{t.items}</dt>
          <dd>
            <a href={hrefTo(['jobs', job.name, 'items'])}>{job.itemCount}</a>
          </dd>
          <dt>{t.instances}</dt>
          <dd>
            <a href={hrefTo(['jobs', job.name, 'instances'])}>{job.instanceCount}</a>
          </dd>
          <dt>{t.health}</dt>
          <dd>{t.healthHints[job.health] ?? job.health}</dd>
          <dt>{t.description}</dt>
          <dd>{job.description || '–'}</dd>
        </dl>
      </Card>
      <Card title={t.nextDues}>
        {job.dues.length ? (
          <ol>
            {job.dues.map((due) => (
              <li key={due}>
                <Time at={due} zone={job.zone} distance />
              </li>
            ))}
          </ol>
        ) : (
          <p class="muted">{t.neverDue}</p>
        )}
      </Card>
    </div>
  );
}

/** Why an item runs, ran, or waits. */
function Explanation(p: { job: JobDetail; item: string }): JSX.Element {
  const t = words();
  const here = useCell(place);
  const instant = here.query.get('instant') ?? '';
  const asked = useGet<unknown>(at('jobs', p.job.name, 'items', p.item, 'explanation'), { instant });
  useChangesOf(p.job.name, asked.again);
  return (
    <Card title={t.explanation} wide>
      <div aria-live="polite">
        {asked.fault ? (
          <p class="muted">{asked.fault.message}</p>
        ) : asked.body === undefined ? (
          <p class="muted">{t.loading}</p>
        ) : (
          <ExplanationText text={toExplanation(asked.body)} />
        )}
      </div>
      <div class="row">
        <label for="explain-instant">{t.explainAt}</label>
        <input
          id="explain-instant"
          type="datetime-local"
          step={1}
          value={localText(instant)}
          onChange={(e) =>
            changeQuery({ instant: e.currentTarget.value ? new Date(e.currentTarget.value).toISOString() : undefined })
          }
        />
      </div>
    </Card>
  );
}

/** One item: why, what became of its last due instants, and its commands. */
function Item(p: { job: JobDetail; item: string }): JSX.Element {
  const t = words();
  const { name, itemCount } = p.job;
  const number = /^\d{1,9}$/.test(p.item) ? Number(p.item) : NaN;
  const exists = number < itemCount;
  const rows = useBlocks<ItemRow>(JSON.stringify([name, p.item]), (_, __, signal) =>
    exists
      ? itemPage(name, { first: number, count: 1, health: '', owner: '' }, signal)
      : Promise.resolve({ rows: [], total: 0 }),
  );
  useChangesOf(name, rows.again);
  const item = rows.at(0);
  if (!exists) return <Notice tone="bad">{t.itemMissing(p.item, itemCount)}</Notice>;
  const command = (verb: string, what: ItemCommand) =>
    give({
      verb,
      subjects: [`${name} / ${p.item}`],
      done: rows.again,
      send: (_, key, dry, signal) => commandOnItem(name, p.item, what, key, dry, signal),
    });
  return (
    <>
      <div class="head">
        <h2>
          {t.item} {p.item}
        </h2>
        {item && <HealthChip health={item.health} fault={item.fault} />}
        <span class="grow" />
        {number > 0 && (
          <a class="button" href={hrefTo(['jobs', name, 'items', number - 1])}>
            {t.previous}
          </a>
        )}
        {number + 1 < itemCount && (
          <a class="button" href={hrefTo(['jobs', name, 'items', number + 1])}>
            {t.next}
          </a>
        )}
        {item && allowed('command') && (
          <>
            <button type="button" onClick={() => command(t.trigger, 'trigger')}>
              {t.trigger}
            </button>
            {item.isDisabled ? (
              <button type="button" onClick={() => command(t.enable, 'enable')}>
                {t.enable}
              </button>
            ) : (
              <button type="button" onClick={() => command(t.disable, 'disable')}>
                {t.disable}
              </button>
            )}
            {item.running && (
              <button type="button" class="danger" onClick={() => command(t.stop, 'stop')}>
                {t.stop}
              </button>
            )}
          </>
        )}
      </div>
      {rows.fault && <Notice tone="bad">{rows.fault}</Notice>}
      <div class="cards">
        <Explanation job={p.job} item={p.item} />
        {item && (
          <>
            <Card title={t.facts}>
              <dl class="facts">
                <dt>{t.owner}</dt>
                <dd class="mono">{item.owner || t.nobody}</dd>
                <dt>{t.state}</dt>
                <dd>
                  <ItemState item={item} zone={p.job.zone} />
                </dd>
                {item.progress && (
                  <>
                    <dt>{t.progress}</dt>
                    <dd>{item.progress}</dd>
                  </>
                )}
                <dt>{t.nextDue}</dt>
                <dd>
                  <Time at={item.nextDue} zone={p.job.zone} distance />
                </dd>
                <dt>{t.deadLetters}</dt>
                <dd>
                  {item.deadLetters ? <a href={hrefTo(['jobs', name, 'dead-letters'])}>{item.deadLetters}</a> : 0}
                </dd>
              </dl>
            </Card>
            <Card title={t.recentRuns} wide>
              <div class="scroll" tabIndex={0} role="region" aria-label={t.recentRuns}>
                <table class="list">
                  <thead>
                    <tr>
                      {[t.due, t.outcome, t.began, t.duration, t.attempt, t.instance, t.note].map((h) => (
                        <th scope="col" key={h}>
                          {h}
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {item.ledger.map((e) => (
                      <tr key={e.due + e.attempt + e.outcome}>
                        <td>
                          {e.count > 1 && (
                            <>
                              {e.count}× {t.upTo}{' '}
                            </>
                          )}
                          <Time at={e.due} zone={p.job.zone} />
                        </td>
                        <td>
                          <OutcomeMark outcome={e.outcome} /> {t.outcomes[e.outcome] ?? e.outcome}
                        </td>
                        <td>
                          <Time at={e.begun} zone={p.job.zone} />
                        </td>
                        <td>{e.begun && e.ended ? durationText(Date.parse(e.ended) - Date.parse(e.begun)) : '–'}</td>
                        <td>{e.attempt}</td>
                        <td class="mono">{e.instance}</td>
                        <td>{e.note}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </Card>
          </>
        )}
      </div>
    </>
  );
}

/** As an input of date and time wants it, in the zone of the reader. */
function localText(instant: string): string {
  const at = new Date(instant);
  if (!instant || Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

function ExplanationText(p: { text: string }): JSX.Element {
  const [lead = '', ...rest] = p.text.split('\n');
  return (
    <>
      <p class="wrap">
        <b>{lead}</b>
      </p>
      {rest.length > 0 && (
        <ul class="small">
          {rest.map((line) => (
            <li class="wrap" key={line}>
              {line}
            </li>
          ))}
        </ul>
      )}
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

const instanceColumnsMax = 40;

function Items(p: { job: JobDetail }): JSX.Element {
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
        ...instances.map(
          (instance): Column<ItemRow> => ({
            id: instance.id,
            title: instance.id,
            width: 'minmax(28px,160px)',
            cell: (i) =>
              i.owner === instance.id ? (
                <span class="o run" role="img" aria-label={t.owner} title={instance.id}>
                  ●
                </span>
              ) : (
                <span class="o gap" aria-hidden="true" />
              ),
          }),
        ),
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
      { id: 'letters', title: t.deadLetters, width: '90px', end: true, from: 1000, cell: (i) => i.deadLetters || '' },
    ];
  }, [t, name, view, instances.map((i) => i.id).join()]);
  const items = [...selected]
    .map(Number)
    .sort((a, b) => a - b)
    .map(String);
  const bulk = (verb: string, command: 'trigger' | 'disable' | 'enable') =>
    give({
      verb,
      subjects: items.map((i) => `${name} / ${i}`),
      done: () => {
        setSelected(new Set());
        rows.again();
      },
      send: (subject, key, dry, signal) =>
        commandOnItem(name, subject.slice(name.length + 3), command, key, dry, signal),
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
            <div>
              <Runs item={i} />
            </div>
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
          <button type="button" class="plain" onClick={() => setSelected(new Set())}>
            {t.noneSelected}
          </button>
        </div>
      )}
    </>
  );
}

function ItemState(p: { item: ItemRow; zone: string }): JSX.Element {
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

function Instances(p: { job: JobDetail }): JSX.Element {
  const t = words();
  const { name } = p.job;
  const asked = useGet<unknown>(at('jobs', name, 'instances'));
  useChangesOf(name, asked.again);
  const all = asked.body === undefined ? [] : toInstances(asked.body);
  const columns: Column<InstanceRow>[] = [
    {
      id: 'id',
      title: t.instance,
      width: 'minmax(200px,2fr)',
      cell: (i) => (
        <span class="mono" title={i.id}>
          {i.id}
        </span>
      ),
    },
    { id: 'state', title: t.state, width: 'minmax(150px,1fr)', cell: (i) => <InstanceState instance={i} /> },
    {
      id: 'items',
      title: t.items,
      width: '80px',
      end: true,
      cell: (i) => (
        <a tabIndex={-1} href={hrefTo(['jobs', name, 'items'], { owner: i.id })}>
          {i.itemCount}
        </a>
      ),
    },
    { id: 'weight', title: t.weight, width: '80px', end: true, from: 800, cell: (i) => i.weight },
    { id: 'labels', title: t.labels, width: 'minmax(100px,1fr)', from: 900, cell: (i) => i.labels || '–' },
    {
      id: 'do',
      title: '',
      width: '120px',
      end: true,
      cell: (i) =>
        allowed('command') && (
          <button type="button" class="danger" tabIndex={-1} onClick={() => shutDown(i)}>
            {t.shutDown}
          </button>
        ),
    },
  ];
  const shutDown = (i: InstanceRow) =>
    give({
      verb: t.shutDown,
      subjects: [i.id],
      isGrave: true,
      done: asked.again,
      send: (subject, key, dry, signal) => commandOnInstance(name, subject, key, dry, signal),
    });
  return (
    <Table
      label={t.instances}
      columns={columns}
      rows={listed(all, asked.fault?.message, asked.busy)}
      keyOf={(i) => i.id}
      rowHeight={36}
      open={(i) => go(['servers', i.server])}
      compact={(i) => (
        <div class="compact">
          <div>
            <span class="mono cut">{i.id}</span>
            <span>{i.itemCount}</span>
          </div>
          <div>
            <InstanceState instance={i} />
            <button type="button" class="danger" onClick={() => shutDown(i)}>
              {t.shutDown}
            </button>
          </div>
        </div>
      )}
    />
  );
}

/** Rows that are all there. */
export function listed<R>(rows: R[], fault?: string, busy = false) {
  return { count: rows.length, at: (i: number) => rows[i], want: () => undefined, fault, busy };
}

function InstanceState(p: { instance: InstanceRow }): JSX.Element {
  const t = words();
  const i = p.instance;
  return (
    <span class="row">
      {i.isLeader && <Chip tone="run">{t.leader}</Chip>}
      {i.isDisabled && <Chip tone="idle">{t.disabled}</Chip>}
      {i.isLeftOver && <Chip tone="bad">{t.leftOver}</Chip>}
      {i.isTriggered && <Chip tone="warn">{t.triggered}</Chip>}
      {i.isJava && <Chip tone="idle">{t.java}</Chip>}
      {!(i.isLeader || i.isDisabled || i.isLeftOver || i.isTriggered || i.isJava) && (
        <Chip tone="good">{t.healths.ok}</Chip>
      )}
    </span>
  );
}
