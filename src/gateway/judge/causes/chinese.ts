/**
 * What Chinese error messages say, as parts of patterns. Chinese has no spaces and no inflection, so a
 * list of words is enough. The names are those of english.ts.
 */
import { either, notOfKeys, phrases } from './patterns.ts'

export const zh = {
  model: either(...phrases`模型 | \bmodel\b`),

  // 令牌, 密钥: key. 认证, 身份: authentication, identity. 签名: signature.
  secret: either(
    ...phrases`
      令牌 | \bkey\b | 密钥 | 密鑰 | 金鑰 | 钥匙 | 秘钥
      api ?key | apikey | access ?key | secret ?(?:id|key)
      鉴权 | 认证 | 認證 | 身份验证 | 身份校验 | 身份信息 | 凭证 | 凭据 | 签名
    `,
    `token${notOfKeys}`,
  ),

  // 无效, 错误: invalid, wrong. 过期: expired. 禁用: disabled. 缺少: missing.
  broken: either(
    ...phrases`
      无效 | 無效 | 错误 | 錯誤 | 过期 | 過期 | 到期 | 失效 | 回收 | 收回 | 作废 | 不正确
      不合法 | 非法 | 禁用 | 停用 | 删除 | 吊销 | 撤销 | 注销 | 不存在 | 不(?:匹配|符|一致) | 失败
      缺失 | 缺少 | 为空 | 未提供 | 未通过 | 不通过 | 没通过 | 有误 | 不可用 | 不匹配
      封禁 | 冻结 | 泄露 | 禁止
    `,
  ),

  // 账号: account. 用户: user. 企业: company. 分组: group. Not the key, model or balance of one.
  holder: `${either(
    ...phrases`
        账号 | 账户 | 帐号 | 帐户 | 賬號 | 帳號 | 用户 | 用戶 | 组织 | 企业 | 团队 | 租户 | 分组 | 项目
      `,
  )}(?!.{0,6}(?:令牌|密钥|模型|余额|额度))`,

  // 封禁: banned. 冻结: frozen. 实名: identity not verified. 违规: violated the rules.
  held: either(
    ...phrases`
      封禁 | 封号 | 封停 | 禁用 | 停用 | 冻结 | 凍結 | 锁定 | 注销 | 异常 | 限制
      (?:(?:未|没有?)(?:完成|通过|进行)?|需要?完成|请完成).{0,4}(?:激活|绑定|认证|实名|验证|审核|识别)
      审核 | 解散 | 违规 | 停权 | 暂停 | 管控 | 风控 | 拉黑 | 黑名单 | 未启用 | 过期 | 到期 | 不存在
    `,
  ),

  // 额度: quota. 余额: balance. 积分: credits. 账单: bill.
  money: either(
    ...phrases`
      额度 | 余额 | 餘額 | 配额 | 积分 | 点数 | 算力 | 费用 | 预算 | 账单 | 消费 | 花费 | 限额 | 使用上限
    `,
  ),

  // 不足: insufficient. 用尽: used up. 达到: reached.
  usedUp: either(
    ...phrases`
      不足 | 不够 | 为 ?0 | 用尽 | 用完 | 用光 | 耗尽 | 殆尽 | 花完 | 花光 | 见底 | 小于 | 低于
      仅剩 | 只剩 | 超 | 已达 | 达到 | 上限 | 为零 | 为负 | 逾期 | 透支 | 限制
    `,
  ),

  // 套餐: plan. 订阅: subscription. 会员: membership.
  plan: either(...phrases`套餐 | 订阅 | 訂閱 | 会员 | 资源包 | 流量包 | 体验包 | 编程包`),

  // 到期: ended. 不包含: does not include. 升级: upgrade.
  lapsed: either(
    ...phrases`
      到期 | 过期 | 失效 | 结束 | 终止 | 未 | 不支持 | 不包含 | 不可 | 不适用 | 无 | 没有 | 余量为 ?0
      用完 | 用尽 | 耗尽 | 不足 | 升级 | 购买 | 续费 | 开通 | 暂停 | 冻结
    `,
  ),

  // 地区, 国家: region, country. 境外: abroad.
  country: either(
    ...phrases`地区 | 国家 | 区域 | 所在地 | 地域 | 地區 | 國家 | 境内 | 境外 | 大陆`,
  ),

  // 网段: subnet. 内网: internal network.
  network: either(...phrases`\bip\b | 网段 | 内网 | 来源(?:地址|ip) | 所在网络 | 当前网络`),

  // 无权限: no permission. 不支持: not supported. 仅限: only for.
  denied: either(
    ...phrases`
      无.{0,4}权限 | 不(?:受支持|被|支持|支援|允许|可用|在|能|属于|开放|对|向|提供)
      暂不 | 未(?:开放|授权|对) | 无法 | 无权 | 禁止 | 拒绝 | 受限 | 限制 | 仅限 | 仅对 | 仅向
      黑名单 | 拉黑 | 只能 | 只允许 | 拦截 | 封禁 | 屏蔽
    `,
  ),

  // 客户端: client. 编程工具: coding tool. Not the name of a model.
  client: `${either(
    ...phrases`
        客户端 | claude ?(?:code|cli) | codex | opencode | cli\b | 编程工具 | 编码工具
        coding ?(?:agent|tool)
      `,
  )}(?!.{0,6}模型)(?!-)`,
} as const
