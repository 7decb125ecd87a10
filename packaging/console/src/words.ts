// SPDX-License-Identifier: Apache-2.0
// Every text of the page, in each language. Sentences that the server writes are shown as they come.
import { language, useCell, type Language } from './store';

const plural = (n: number, one: string, many: string): string => `${n} ${n === 1 ? one : many}`;

const en = {
  appName: 'elasticjob', skip: 'Skip to the content', pages: 'Pages', jobs: 'Jobs', servers: 'Servers', instances: 'Instances',
  upcoming: 'Upcoming', deadLetters: 'Dead letters', history: 'History', audit: 'Audit', registries: 'Registries', registry: 'Registry',
  items: 'Items', overview: 'Overview', configuration: 'Configuration', databases: 'Event databases', database: 'Event database',
  settings: 'Settings', live: 'live', notLive: 'no live updates', theme: 'Theme', language: 'Language', clock: 'Times in',
  themes: { system: 'as the system', light: 'light', dark: 'dark' }, clocks: { reader: 'my zone', job: "the job's zone", utc: 'UTC' },
  keys: 'Keyboard', keyFilter: 'go to the filter', keyMove: 'move in a table', keyOpen: 'open the row', keySelect: 'select the row',
  keyEscape: 'close a dialog', keyHelp: 'this help', close: 'Close', cancel: 'Cancel', messages: 'Messages', loading: 'Loading…',
  nothing: 'There is nothing here.', any: 'any', all: 'all', more: 'more', yes: 'yes', no: 'no', none: 'none', now: 'now', today: 'today',
  filterBy: (what: string) => `Filter by: ${what}`, filters: 'Filters', clear: 'Clear the filters', select: (what: string) => `Select ${what}`,
  selectLoaded: 'Select all rows that are loaded', selected: (n: number) => `${n} selected`, noneSelected: 'Select nothing', refresh: 'Refresh',
  name: 'Name', status: 'Status', health: 'Health', cron: 'Schedule', description: 'Description', due: 'Due', nextDue: 'Next due',
  lastRound: 'Last round', item: 'Item', owner: 'Owner', outcome: 'Outcome', began: 'Began', ended: 'Ended', duration: 'Duration',
  attempt: 'Attempt', note: 'Note', instance: 'Instance', server: 'Server', weight: 'Weight', labels: 'Labels', leader: 'leader',
  member: 'Member', itemCount: 'Items', instanceCount: 'Instances', jobCount: 'Jobs', disabledJobs: 'Disabled in', idleJobs: 'Without an instance in',
  time: 'Time', operator: 'Operator', verb: 'Command', subject: 'Subject', text: 'What it did', key: 'Key', job: 'Job', zone: 'Zone',
  address: 'Address', nameSpace: 'Name space', kind: 'Kind', failure: 'Failure', source: 'Source', state: 'State', task: 'Task',
  running: 'Running', progress: 'Progress', retry: 'Retry', recentRuns: 'Recent runs', itemsByRuns: 'Items × recent runs',
  itemsByInstances: 'Items × instances', timeline: 'Rounds', timelineNone: 'No round is on record yet.',
  timelineHint: 'Each bar is a round: its width is its duration, its colour the worst outcome of its items.',
  roundOf: (due: string, outcome: string, took: string) => `Round of ${due}: ${outcome}, ${took}`, explanation: 'Explanation', why: 'Why',
  explainAt: 'For the instant', itemMissing: (item: string, count: number) => `There is no item ${item}: the job has the items 0 to ${count - 1}.`,
  facts: 'Facts', plan: 'Plan', planText: 'What the change would move', planNone: 'No item would change its owner.',
  planMoved: (n: number) => plural(n, 'item would get another owner', 'items would get another owner'), from: 'From', to: 'To', then: 'Then',
  share: 'Share', inWords: 'In words', nextDues: 'Next due', neverDue: 'It will not be due any more.', changes: 'Changes', noChanges: 'Nothing is changed.',
  was: 'Was', willBe: 'Will be', field: 'Field', review: 'Review the change', save: 'Save', saved: 'Saved.', reset: 'Undo my changes',
  addJob: 'Add a job', conflict: 'Somebody else has changed the configuration meanwhile. Your change was not written.', reload: 'Read it anew',
  invalid: 'This configuration cannot be saved:', trigger: 'Trigger', triggerLong: 'Run all items once, now', disable: 'Disable', enable: 'Enable',
  shutDown: 'Shut down', remove: 'Remove', runAgain: 'Run again', discard: 'Discard', stop: 'Stop the run', show: 'Show',
  ask: (verb: string, what: string) => `${verb}: ${what}?`, would: 'What it would do', asking: 'Asking the server what it would do…',
  typeName: (name: string) => `To go on, type: ${name}`, carryOut: (verb: string) => verb, refused: 'Refused', done: 'Done',
  outcomeUnknown: 'There was no answer, so the outcome is not known. Repeating is safe: the command has a key.', repeat: 'Repeat',
  ofMany: (n: number, total: number) => `${n} of ${total}`, partly: (ok: number, all: number) => `${ok} of ${all} were carried out.`,
  loaded: (n: number, total: number | undefined, complete: boolean) =>
    complete ? plural(n, 'row', 'rows') : total === undefined ? `${n} rows loaded; more follow when you scroll` : `${n} of ${total} rows loaded`,
  readOnly: 'You may look, but not change anything.', signedInAs: (name: string) => `Signed in as ${name}`, version: 'Version', hours: (n: number) => plural(n, 'hour', 'hours'),
  range: 'Range', nobody: 'nobody', everyItem: 'Each item', previous: 'Previous', next: 'Next', current: 'current', connected: 'connected', notConnected: 'not connected',
  switchTo: 'Switch to it', definedByServer: "Registries and event databases are defined in the server's configuration.", noDatabase: 'The server has no event database.',
  unreachable: 'The server does not answer.', notFound: 'There is no such page.', jobMissing: (name: string) => `There is no job ${name}.`, toJobs: 'To the list of jobs',
  upTo: 'up to', count: 'Count', java: 'Java member', leftOver: 'left over', triggered: 'trigger not obeyed yet', disabled: 'disabled', failover: 'failover',
  sortBy: 'Sort by', secretsHint: 'Values that may be secret are masked by the server.', schedulesHint: 'JSON, as in a configuration file.',
  healths: {
    ok: 'ok', unreadable: 'unreadable', no_instances: 'no instances', disabled: 'disabled', sharding_due: 'sharding due', orphaned: 'orphaned', unowned: 'unowned',
    running: 'running', interrupted: 'interrupted', retrying: 'retrying', idle: 'idle',
  } as Record<string, string>,
  healthHints: {
    ok: 'Every item has an owner that is there.', unreadable: 'The configuration or the record cannot be read.', no_instances: 'No instance of the job is there.',
    disabled: 'The servers of all instances are disabled.', sharding_due: 'A sharding has been asked for, and no leader has carried it out yet.',
    orphaned: 'The owner of an item is gone.', unowned: 'An item has no owner.',
  } as Record<string, string>,
  outcomes: {
    completed: 'completed', failed: 'failed', coalesced: 'coalesced', skipped: 'skipped', interrupted: 'interrupted', retried: 'retried', running: 'running',
    done: 'done', unchanged: 'unchanged', refused: 'refused', repeated: 'done before', planned: 'planned', success: 'success', failure: 'failure', none: 'none',
  } as Record<string, string>,
  groups: { schedule: 'Schedule', items: 'Items and sharding', runs: 'Runs', body: 'Body', other: 'Other' } as Record<string, string>,
  fields: {
    name: 'Name of the job', cron: 'Cron expression', schedules: 'Further schedules', time_zone: 'Time zone (IANA)', starts: 'Not due before', ends: 'Not due after',
    excluded: 'Exclusions', jitter: 'Jitter', sharding_total_count: 'Number of items', sharding_item_parameters: 'Parameters of the items', job_parameter: 'Parameter of the job',
    item_labels: 'Labels that items need', job_sharding_strategy_class: 'Sharding strategy', failover: 'Failover: run again when the instance dies',
    misfire: 'Make up for missed runs', monitor_execution: 'Record runs in the registry', max_time_diff_seconds: 'Difference of clocks at most, in seconds (−1: no check)',
    reconcile_interval_minutes: 'Reconcile every so many minutes', disabled: 'New instances start disabled', overwrite: 'Members overwrite this when they start',
    streaming_process: 'Streaming', script_command_line: 'Command line', job_class: 'Job class', type: 'Form of the body', description: 'Description',
    monitor_port: 'Port of the dump (−1: none)', job_exception_handler: 'Exception handler (Java)', executor_service_handler: 'Executor handler (Java)',
    on_clock_change: 'When clocks change',
  } as Record<string, string>,
};

type Words = typeof en;

const zh: Words = {
  appName: en.appName,
  skip: '跳到正文', pages: '页面', jobs: '作业', servers: '服务器', instances: '实例', upcoming: '即将触发', deadLetters: '死信', history: '历史', audit: '审计',
  registries: '注册中心', registry: '注册中心', items: '分片项', overview: '概览', configuration: '配置', databases: '事件数据库', database: '事件数据库',
  settings: '设置', live: '实时', notLive: '没有实时更新', theme: '主题', language: '语言', clock: '时区', themes: { system: '跟随系统', light: '浅色', dark: '深色' },
  clocks: { reader: '我的时区', job: '作业的时区', utc: 'UTC' }, keys: '键盘', keyFilter: '转到筛选', keyMove: '在表格中移动', keyOpen: '打开该行', keySelect: '选择该行',
  keyEscape: '关闭对话框', keyHelp: '本帮助', close: '关闭', cancel: '取消', messages: '消息', loading: '正在加载…', nothing: '没有内容。', any: '不限', all: '全部',
  more: '更多', yes: '是', no: '否', none: '无', now: '现在', today: '今天', filterBy: (what) => `筛选：${what}`, filters: '筛选', clear: '清除筛选',
  select: (what) => `选择 ${what}`, selectLoaded: '选择所有已加载的行', selected: (n) => `已选择 ${n} 个`, noneSelected: '取消选择', refresh: '刷新', name: '名称', status: '状态',
  health: '健康', cron: '调度', description: '描述', due: '应触发时间', nextDue: '下次触发', lastRound: '上一轮', item: '分片项', owner: '所属实例', outcome: '结果', began: '开始',
  ended: '结束', duration: '耗时', attempt: '尝试', note: '说明', instance: '实例', server: '服务器', weight: '权重', labels: '标签', leader: '主节点', member: '成员',
  itemCount: '分片项', instanceCount: '实例', jobCount: '作业', disabledJobs: '已禁用的作业', idleJobs: '没有实例的作业', time: '时间', operator: '操作员', verb: '命令',
  subject: '对象', text: '效果', key: '键', job: '作业', zone: '时区', address: '地址', nameSpace: '命名空间', kind: '类型', failure: '失败原因', source: '来源', state: '状态',
  task: '任务', running: '运行中', progress: '进度', retry: '重试', recentRuns: '最近运行', itemsByRuns: '分片项 × 最近运行', itemsByInstances: '分片项 × 实例', timeline: '轮次',
  timelineNone: '还没有轮次记录。', timelineHint: '每个条形是一轮：宽度表示耗时，颜色表示其分片项中最差的结果。', roundOf: (due, outcome, took) => `${due} 的轮次：${outcome}，${took}`,
  explanation: '解释', why: '原因', explainAt: '针对时间点', itemMissing: (item, count) => `没有分片项 ${item}：此作业的分片项为 0 到 ${count - 1}。`, facts: '基本信息',
  plan: '计划', planText: '此更改会移动的分片项', planNone: '没有分片项会更换所属实例。', planMoved: (n) => `${n} 个分片项会更换所属实例`, from: '从', to: '到', then: '之后', share: '份额',
  inWords: '含义', nextDues: '接下来的触发时间', neverDue: '不会再触发。', changes: '更改', noChanges: '没有更改。', was: '原值', willBe: '新值', field: '字段', review: '检查更改',
  save: '保存', saved: '已保存。', reset: '撤销我的更改', addJob: '添加作业', conflict: '其间有人更改了配置。您的更改没有写入。', reload: '重新读取', invalid: '此配置无法保存：', trigger: '触发',
  triggerLong: '立即运行所有分片项一次', disable: '禁用', enable: '启用', shutDown: '关闭', remove: '移除', runAgain: '重新运行', discard: '丢弃', stop: '停止运行', show: '查看',
  ask: (verb, what) => `${verb}：${what}？`, would: '将会发生什么', asking: '正在询问服务器会发生什么…', typeName: (name) => `要继续，请输入：${name}`, carryOut: (verb) => verb,
  refused: '被拒绝', done: '完成', outcomeUnknown: '没有收到答复，结果未知。可以放心重复：此命令带有键。', repeat: '重复', ofMany: (n, total) => `${n} / ${total}`,
  partly: (ok, all) => `${all} 个中有 ${ok} 个已执行。`,
  loaded: (n, total, complete) => (complete ? `${n} 行` : total === undefined ? `已加载 ${n} 行，滚动时加载更多` : `已加载 ${n} / ${total} 行`),
  readOnly: '您只能查看，不能更改。', signedInAs: (name) => `当前用户：${name}`, version: '版本', hours: (n) => `${n} 小时`, range: '范围', nobody: '无', everyItem: '每个分片项', previous: '上一页', next: '下一页',
  current: '当前', connected: '已连接', notConnected: '未连接', switchTo: '切换', definedByServer: '注册中心和事件数据库在服务器的配置中定义。', noDatabase: '服务器没有事件数据库。',
  unreachable: '服务器没有应答。', notFound: '没有这个页面。', jobMissing: (name) => `没有作业 ${name}。`, toJobs: '返回作业列表', upTo: '直到', count: '数量', java: 'Java 成员', leftOver: '残留',
  triggered: '尚未执行触发', disabled: '已禁用', failover: '失效转移', sortBy: '排序', secretsHint: '可能保密的值已由服务器隐去。', schedulesHint: 'JSON，格式同配置文件。',
  healths: {
    ok: '正常', unreadable: '无法读取', no_instances: '没有实例', disabled: '已禁用', sharding_due: '等待分片', orphaned: '实例丢失', unowned: '无所属', running: '运行中',
    interrupted: '被中断', retrying: '等待重试', idle: '空闲',
  },
  healthHints: {
    ok: '每个分片项都属于一个在线的实例。', unreadable: '无法读取配置或记录。', no_instances: '作业没有任何实例在线。', disabled: '所有实例的服务器都已禁用。',
    sharding_due: '已请求分片，但主节点尚未执行。', orphaned: '某个分片项的实例已丢失。', unowned: '某个分片项没有所属实例。',
  },
  outcomes: {
    completed: '完成', failed: '失败', coalesced: '合并', skipped: '跳过', interrupted: '被中断', retried: '已重试', running: '运行中', done: '完成', unchanged: '无变化', refused: '被拒绝',
    repeated: '之前已完成', planned: '计划', success: '成功', failure: '失败', none: '无',
  },
  groups: { schedule: '调度', items: '分片项与分片', runs: '运行', body: '作业体', other: '其他' },
  fields: {
    name: '作业名称', cron: 'Cron 表达式', schedules: '其他调度', time_zone: '时区 (IANA)', starts: '最早触发时间', ends: '最晚触发时间', excluded: '排除', jitter: '抖动',
    sharding_total_count: '分片总数', sharding_item_parameters: '分片项参数', job_parameter: '作业参数', item_labels: '分片项所需标签', job_sharding_strategy_class: '分片策略',
    failover: '失效转移：实例死亡时重新运行', misfire: '补上错过的运行', monitor_execution: '在注册中心记录运行', max_time_diff_seconds: '允许的时钟误差秒数（−1：不检查）',
    reconcile_interval_minutes: '对账间隔（分钟）', disabled: '新实例启动时禁用', overwrite: '成员启动时覆盖此配置', streaming_process: '流式处理', script_command_line: '命令行',
    job_class: '作业类', type: '作业体形式', description: '描述', monitor_port: '转储端口（−1：无）', job_exception_handler: '异常处理器 (Java)',
    executor_service_handler: '执行器处理器 (Java)', on_clock_change: '时钟变更时',
  },
};

const dictionaries: Record<Language, Words> = { en, zh };

/** The texts in the chosen language, in a component. */
export function words(): Words {
  return dictionaries[useCell(language)];
}

/** The same outside of components. */
export function wordsNow(): Words {
  return dictionaries[language.get()];
}
